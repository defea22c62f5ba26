"""Tools of the noun `text`, one file each."""
