"""What node types there are, for each supported Blender: data that scripts/generate_nodes.py asks of Blender itself."""
