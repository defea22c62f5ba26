"""The names of render engines: ours, and those of each Blender version."""

from __future__ import annotations

from typing import Literal

Engine = Literal["WORKBENCH", "EEVEE", "CYCLES"]


def engine_id(engine: Engine, version: tuple[int, int, int]) -> str:
    """Blender's own name. EEVEE was called "next" from 4.2 until it had replaced the old one in 5.0."""
    if engine == "EEVEE":
        return "BLENDER_EEVEE" if version >= (5, 0, 0) else "BLENDER_EEVEE_NEXT"
    return "BLENDER_WORKBENCH" if engine == "WORKBENCH" else "CYCLES"


def engine_name(identifier: str) -> str:
    """Our name; that of an add-on's engine is its own."""
    known = {"BLENDER_WORKBENCH": "WORKBENCH", "BLENDER_EEVEE": "EEVEE", "BLENDER_EEVEE_NEXT": "EEVEE"}
    return known.get(identifier, identifier)
