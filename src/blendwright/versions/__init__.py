"""Support for other versions of Blender: replay, comparison and upgrade of workspaces and files."""
