"""Pure functions between a parsed plan and its execution: arguments, validation, graph, schedule."""
