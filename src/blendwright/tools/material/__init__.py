"""Tools of the noun `material`, one file per tool."""
