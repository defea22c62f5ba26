"""A reader of .blend files that needs no Blender and trusts no content."""
