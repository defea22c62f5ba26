"""The batches in the console: its routes, and the batches that it shows."""
