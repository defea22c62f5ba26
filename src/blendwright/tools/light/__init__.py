"""Tools of the noun `light`, one file each."""
