"""The current scene: its worker, rebuilds, checkpoints, comparison and external files."""
