"""Connections to Blenders that people have open: the search for windows, and the connection to one."""
