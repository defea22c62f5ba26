"""Tools for geometry nodes."""
