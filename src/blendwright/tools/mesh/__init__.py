"""Tools of the noun `mesh`, one file per tool."""
