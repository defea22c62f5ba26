"""The engines that run the jobs of a batch: one protocol, and an implementation for each engine."""
