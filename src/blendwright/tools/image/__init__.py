"""Tools of the noun `image`, one file each."""
