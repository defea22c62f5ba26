"""Tools of the noun `shape_key`, one file each."""
