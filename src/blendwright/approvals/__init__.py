"""Approvals: a person's permission for one operation, from the request to the recorded answer."""
