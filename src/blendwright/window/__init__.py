"""A Blender window that a person has open, used as the scene of a workspace."""
