"""Node trees: short ways to write them, random ones, and broken ones."""
