"""Tools of the noun `asset`, one file per tool."""
