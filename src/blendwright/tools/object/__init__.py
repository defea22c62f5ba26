"""Tools of the noun `object`, one file per tool."""
