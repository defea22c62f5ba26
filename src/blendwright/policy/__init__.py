"""What is allowed: the session contract, its limits, the policy of the machine, approvals, and the table of refusals."""
