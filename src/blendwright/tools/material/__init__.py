"""Tools of the noun `material`, one file each."""
