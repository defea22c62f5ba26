"""The mesh that one modifier makes of an object's own mesh, by evaluation instead of an operator."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import bpy


@contextmanager
def only_modifier(obj: Any, modifier: str) -> Generator[None, None, None]:
    """Let one modifier work and none of the others, for the length of a `with` block."""
    was_shown = [other.show_viewport for other in obj.modifiers]
    try:
        for other in obj.modifiers:
            other.show_viewport = other.name == modifier
        yield
    finally:
        for other, show in zip(obj.modifiers, was_shown, strict=True):
            other.show_viewport = show


def new_mesh(obj: Any, depsgraph: Any) -> Any:
    """A new mesh, as the object evaluates now, with all its layers."""
    meshes: Any = bpy.data.meshes
    return meshes.new_from_object(obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph)
