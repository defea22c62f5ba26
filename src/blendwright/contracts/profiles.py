"""What a worker says about the Blender inside it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class BlenderProfile(BaseModel):
    """One Blender, as it announced itself in the handshake."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: tuple[int, int, int]
    version_string: str
    build_hash: str
    platform: str
    background: bool
    """True without a user interface."""
    engines: tuple[str, ...]
    features: dict[str, bool]
    name_bytes: int
    """How long a datablock's name may be, in bytes of UTF-8."""
    confinement: dict[str, Any]
    """What holds the worker in, field by field, as the confinement reported it."""
    python: str
    pid: int
    memory_mb: float | None = None
    """Resident memory of the idle worker, where the system tells."""
