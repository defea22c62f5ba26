"""Pure functions from text to something that may run: arguments, validation, graph, schedule."""
