"""Tools of the noun `file`, one file each."""
