"""The table of results."""
