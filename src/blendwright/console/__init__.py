"""The console: a local web page in which a person watches, approves, undoes and proves runs. Like the command line, it is a client."""
