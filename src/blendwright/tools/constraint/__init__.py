"""Tools of the noun `constraint`, one file per tool."""
