"""Tools of the noun `render`, one file each."""
