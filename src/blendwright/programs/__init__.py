"""Programs: Starlark text that is evaluated to the operations of a plan, in a process of its own with limits."""
