"""What is wrong with a payload, found without Blender: against the catalogue, and against the tree as far as it is known."""
