"""Tools of the noun `pose`, one file per tool."""
