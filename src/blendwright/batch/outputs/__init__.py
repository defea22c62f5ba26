"""The outputs of cases and their storage."""
