"""Tools of the noun `scene`, one file per tool."""
