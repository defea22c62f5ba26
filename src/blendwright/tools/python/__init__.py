"""Tools of the noun `python`, one file each."""
