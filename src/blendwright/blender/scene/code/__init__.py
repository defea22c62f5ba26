"""Python code from callers, and code that scenes carry."""
