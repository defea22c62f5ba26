"""The command `batch` and its subcommands."""
