"""Tools of the noun `modifier`, one file per tool."""
