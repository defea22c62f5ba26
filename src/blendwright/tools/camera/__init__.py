"""Tools of the noun `camera`, one file each."""
