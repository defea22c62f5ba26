"""Commits: the transaction that writes them and lookups among them."""
