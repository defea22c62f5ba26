"""Tools of the noun `render`, one file per tool."""
