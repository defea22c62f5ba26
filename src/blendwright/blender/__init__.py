"""The code that runs inside Blender. The core never imports it: it starts this package by name in a separate process."""
