"""Editing, reading and drawing of node trees of any kind. Parts that only geometry nodes need are in `tools.geonodes`."""
