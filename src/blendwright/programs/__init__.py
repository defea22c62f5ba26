"""Evaluation of programs: Starlark text becomes the operations of a plan, in a separate process with limits."""
