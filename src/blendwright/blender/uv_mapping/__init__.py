"""UV maps: creation by Blender's operators on a copy or by projection, measures, and a picture of the layout."""
