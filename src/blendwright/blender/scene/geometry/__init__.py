"""Meshes, surfaces, evaluated geometry and UV maps of the Scene port."""
