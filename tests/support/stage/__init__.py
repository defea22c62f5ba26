"""Blender in the process of the test, and files for it."""
