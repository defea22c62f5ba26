"""Tools of the noun `python`, one file per tool."""
