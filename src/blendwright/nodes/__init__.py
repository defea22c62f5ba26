"""Geometry nodes without Blender: payloads, the tree as a value, the catalogue of node types, and checks on all of them."""
