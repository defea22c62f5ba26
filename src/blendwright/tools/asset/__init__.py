"""Tools of the noun `asset`, one file each."""
