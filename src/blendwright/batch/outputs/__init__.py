"""Outputs of cases and where they are stored."""
