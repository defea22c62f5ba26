"""Tools of the noun `place`, one file each."""
