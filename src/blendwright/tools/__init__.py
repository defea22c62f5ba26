"""The tools: `<noun>/<verb>.py`, one class each, listed in `catalog`. They never import bpy; they work through the Scene port."""
