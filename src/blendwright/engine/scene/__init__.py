"""The current scene: the worker that holds it, rebuilds, checkpoints and comparison."""
