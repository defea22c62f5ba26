"""Tools of the noun `object`, one file each."""
