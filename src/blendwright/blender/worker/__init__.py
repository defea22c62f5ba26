"""The process that contains Blender: its start, its confinement, and its answers to requests."""
