"""The code that runs inside a user's open Blender while a core is attached to it."""
