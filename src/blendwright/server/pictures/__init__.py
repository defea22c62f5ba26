"""Pictures in answers to tool calls."""
