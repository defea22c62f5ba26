"""Tools of the noun `curve`, one file each."""
