"""The execution engine: runs plans and calls on a scene and records the results."""
