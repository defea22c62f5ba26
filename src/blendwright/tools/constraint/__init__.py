"""Tools of the noun `constraint`, one file each."""
