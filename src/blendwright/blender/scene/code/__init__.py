"""Code from callers and code that scenes carry."""
