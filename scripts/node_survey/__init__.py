"""Asks the Blender at hand about its geometry nodes. Runs inside Blender; what it finds becomes data in the package."""
