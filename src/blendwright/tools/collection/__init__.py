"""Tools of the noun `collection`, one file per tool."""
