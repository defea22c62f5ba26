"""What runs inside a Blender that a person has open, once a core is attached to it."""
