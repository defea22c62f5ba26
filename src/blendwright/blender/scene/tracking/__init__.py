"""The writes of a step, and how to revert them."""
