"""Checkpoints: saved scenes, routes to rebuild from them, and garbage collection."""
