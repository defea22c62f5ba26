"""Blendwright: strict plans for Blender, executed, verified and undone."""
