"""Tools of the noun `collection`, one file each."""
