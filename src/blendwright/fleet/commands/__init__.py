"""The command `worker`, and `batch` on a fleet."""
