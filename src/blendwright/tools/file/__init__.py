"""Tools of the noun `file`, one file per tool."""
