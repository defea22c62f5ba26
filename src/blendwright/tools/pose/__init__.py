"""Tools of the noun `pose`, one file each."""
