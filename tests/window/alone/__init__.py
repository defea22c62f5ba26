"""Tests of the window's side only: the extension and the code in Blender, with a minimal core."""
