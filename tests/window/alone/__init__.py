"""The side of the window alone: the extension, and what runs in Blender, with a tiny core."""
