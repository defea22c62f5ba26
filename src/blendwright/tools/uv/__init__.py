"""Tools of the noun `uv`, one file each."""
