"""UV maps: made by Blender's own operators on a copy, or by projection; measured; drawn."""
