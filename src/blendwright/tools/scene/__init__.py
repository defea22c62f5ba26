"""Tools of the noun `scene`, one file each."""
