"""Tools for node trees of materials, worlds, lights and the compositor, and for node groups of each kind."""
