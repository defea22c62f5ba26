"""The command `worker`, and the subcommands of `batch` for a fleet."""
