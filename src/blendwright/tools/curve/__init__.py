"""Tools of the noun `curve`, one file per tool."""
