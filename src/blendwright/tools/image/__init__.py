"""Tools of the noun `image`, one file per tool."""
