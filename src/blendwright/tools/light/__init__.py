"""Tools of the noun `light`, one file per tool."""
