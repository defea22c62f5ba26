"""Tools of the noun `mesh`, one file each."""
