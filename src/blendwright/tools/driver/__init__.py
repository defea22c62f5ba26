"""Tools of the noun `driver`, one file per tool."""
