"""Tools of the noun `text`, one file per tool."""
