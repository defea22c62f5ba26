"""Blender processes from the core's point of view: start, requests, deadlines, detection of their death, replacement."""
