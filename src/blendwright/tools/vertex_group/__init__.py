"""Tools of the noun `vertex_group`, one file per tool."""
