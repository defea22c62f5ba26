"""Tools of the noun `place`, one file per tool."""
