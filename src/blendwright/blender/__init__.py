"""All that runs inside Blender. Started by name in a process of its own; nothing in the core imports it."""
