"""Tools of the noun `armature`, one file each."""
