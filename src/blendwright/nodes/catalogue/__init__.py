"""Catalogue of node types for each supported Blender. scripts/generate_nodes.py reads the data from Blender itself."""
