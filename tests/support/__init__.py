"""Helpers that several test folders share. Tests import them as `support.<group>.<module>`."""
