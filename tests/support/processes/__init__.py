"""Processes that tests start, and their cleanup."""
