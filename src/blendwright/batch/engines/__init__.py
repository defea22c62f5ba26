"""Who runs the jobs of a batch: one port, and an implementation for each engine."""
