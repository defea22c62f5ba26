"""Meshes, surfaces, evaluation and UV maps."""
