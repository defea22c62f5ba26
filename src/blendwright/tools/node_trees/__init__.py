"""Editing, reading and drawing node trees of any kind. Knows no modifier: what is for geometry nodes only is in `tools.geonodes`."""
