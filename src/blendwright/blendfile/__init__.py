"""Reads .blend files without Blender, and believes nothing that it reads."""
