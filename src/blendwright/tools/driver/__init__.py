"""Tools of the noun `driver`, one file each."""
