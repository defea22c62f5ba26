"""Tools of the noun `modifier`, one file each."""
