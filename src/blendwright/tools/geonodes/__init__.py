"""Tools of the noun `geonodes`, one file per tool."""
