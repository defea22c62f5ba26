"""Sending operations to a worker and committing the answers."""
