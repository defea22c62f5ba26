"""The command line: thin commands over `app`, and the display of their results."""
