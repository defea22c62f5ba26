"""The rules for what a session may do: its contract and limits, the policy of the machine, objections and refusals."""
