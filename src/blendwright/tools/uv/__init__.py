"""Tools of the noun `uv`, one file per tool."""
