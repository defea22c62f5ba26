"""Tools of the noun `armature`, one file per tool."""
