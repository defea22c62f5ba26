"""Tools of the noun `shape_key`, one file per tool."""
