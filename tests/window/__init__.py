"""Tests of an open window, played by the bpy wheel with the real extension."""
