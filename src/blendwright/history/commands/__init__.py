"""The commands `branch`, `switch`, `tag`, `fork`, `merge`, `blame` and `bisect`."""
