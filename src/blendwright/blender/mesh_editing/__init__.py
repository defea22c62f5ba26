"""Editing meshes by lists of operations, with BMesh: no edit mode, no context, no selection of the interface."""
