"""Tools of the noun `animation`, one file each."""
