"""Tools of the noun `camera`, one file per tool."""
