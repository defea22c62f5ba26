"""Answers to tool calls, within the size that a model can afford to read."""
