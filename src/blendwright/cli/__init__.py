"""The command line: thin commands over `app`, and how results are shown to people."""
