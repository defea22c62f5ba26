"""Tools of the noun `physics`, one file each."""
