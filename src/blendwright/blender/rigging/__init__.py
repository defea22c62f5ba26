"""What only Blender's modes and operators can do for rigs: bones in edit mode, weights by heat."""
