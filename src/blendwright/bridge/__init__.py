"""Blender processes seen from the core: spawning, feeding, timing out, noticing their death, replacing them."""
