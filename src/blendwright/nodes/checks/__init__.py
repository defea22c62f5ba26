"""Checks of payloads without Blender: against the catalogue, and against the tree as far as it is known."""
