"""The batch section of the console: its routes and the batches that it shows."""
