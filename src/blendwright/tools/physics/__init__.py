"""Tools of the noun `physics`, one file per tool."""
