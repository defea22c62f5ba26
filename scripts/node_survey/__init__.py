"""Asks the Blender at hand about its nodes. Runs inside Blender; what it finds becomes data in the package."""
