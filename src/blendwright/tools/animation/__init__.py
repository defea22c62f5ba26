"""Tools of the noun `animation`, one file per tool."""
