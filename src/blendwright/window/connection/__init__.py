"""Blenders that people have open: finding the windows that offer a connection, and connecting to one."""
