"""The promises of tools: their vocabulary, and named profiles of the guarantees of common sorts of tools.

A tool names one profile, the kinds of datablock that it may change, and the capabilities that it needs: `promises =
SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")`. It states differences from the profile in the same
line: `.but(determinism=Determinism.SEEDED)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypedDict, Unpack

from blendwright.tool_api.scene import Kind

Version = tuple[int, int, int]
OLDEST_BLENDER: Version = (4, 2, 0)
# The capabilities that a session may offer and a tool may need, by name.
CAPABILITIES: dict[str, str] = {
    "scene_read": "look at the scene",
    "scene_write": "change frame range, units, render settings and world",
    "object_write": "create, move and delete objects and collections",
    "mesh_write": "create and change meshes, curves and texts",
    "material_write": "create, assign and delete materials",
    "modifier_write": "add, change, apply and remove modifiers",
    "animation_write": "insert and remove keyframes",
    "render": "render pictures",
    "file_read": "read files inside the allowed roots",
    "file_write": "write files inside the allowed roots",
    "network": "reach other machines",
    "python_safe": "run Python in a confined process that is thrown away",
    "python_trusted": "run Python in the process that holds the scene",
}


class Ordered(StrEnum):
    """Words with an order: `rank` grows from the first word."""

    def __init__(self, _: str) -> None:
        self.rank = len(type(self).__members__)


class SafetyLevel(Ordered):
    """The extent of a call's changes, ordered from harmless to harmful."""

    READ_ONLY = "read_only"
    SAFE_WRITE = "safe_write"
    DESTRUCTIVE = "destructive"


class SafetyMode(StrEnum):
    """The environment that a call needs."""

    HEADLESS_SAFE = "headless_safe"
    UI_ASSISTED = "ui_assisted"
    UNSAFE_OPS = "unsafe_ops"


class Determinism(Ordered):
    """The reproducibility of a call's output from equal input, ordered from strong to weak."""

    DETERMINISTIC = "deterministic"
    SEEDED = "seeded"
    NONDETERMINISTIC = "nondeterministic"


def strictest(*demands: Determinism | None) -> Determinism | None:
    """Return the strongest demand, or None if there is none."""
    return min((demand for demand in demands if demand is not None), key=lambda demand: demand.rank, default=None)


class Idempotence(StrEnum):
    """The effect of repeating a call with equal arguments."""

    IDEMPOTENT = "idempotent"
    ACCUMULATING = "accumulating"
    NON_IDEMPOTENT = "non_idempotent"


class Revert(StrEnum):
    """The way to undo a step, before the last resort of rebuilding the scene."""

    NOTHING = "nothing"  # a read-only tool
    INVERSE = "inverse"  # the recorded inverse of each write
    MEMFILE = "memfile"  # Blender's own undo: the tool calls operators whose writes nobody records


class Isolation(StrEnum):
    """The Blender process that a call runs in."""

    SHARED = "shared"  # the one that holds the scene, which goes on holding it
    REPLACED = "replaced"  # the one that holds the scene; a clean one takes its place afterwards
    DISPOSABLE = "disposable"  # one that gets a copy, is never used again, and whose result is checked before it counts


@dataclass(frozen=True, slots=True)
class Requires:
    """The requirements of a tool on its Blender. `blender_max` is the first version that is too new."""

    blender_min: Version
    capabilities: tuple[str, ...]
    blender_max: Version | None = None


class Changes(TypedDict, total=False):
    """The promises in which a tool may differ from its profile."""

    safety_level: SafetyLevel
    safety_mode: SafetyMode
    determinism: Determinism
    idempotence: Idempotence
    revert: Revert
    replayable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """The guarantees of a tool about every call. A profile states all but `writes` and `requires`, which each tool
    must state.
    """

    safety_level: SafetyLevel
    safety_mode: SafetyMode
    determinism: Determinism
    idempotence: Idempotence
    revert: Revert
    replayable: bool
    """Whether the journal can run a call again to rebuild a scene."""
    writes: tuple[Kind, ...] | None = None
    """The kinds of datablock that a call may change."""
    requires: Requires | None = None

    def writes_to(self, *kinds: Kind) -> Promises:
        """Return promises with the kinds of datablock that a call may change; no kinds for a tool that only writes
        files.
        """
        return replace(self, writes=kinds)

    def needs(
        self, *capabilities: str, blender_min: Version = OLDEST_BLENDER, blender_max: Version | None = None
    ) -> Promises:
        """Return promises with the capabilities that a session must offer, and the supported versions of Blender."""
        return replace(self, requires=Requires(blender_min, capabilities, blender_max))

    def but(self, **changes: Unpack[Changes]) -> Promises:
        """Return these promises with some of them changed."""
        return replace(self, **changes)


READ_ONLY = Promises(
    safety_level=SafetyLevel.READ_ONLY,
    safety_mode=SafetyMode.HEADLESS_SAFE,
    determinism=Determinism.DETERMINISTIC,
    idempotence=Idempotence.IDEMPOTENT,
    revert=Revert.NOTHING,
    replayable=True,
    writes=(),
)
# Writes what it names; a second call with the same arguments changes nothing.
SAFE_IDEMPOTENT_WRITE = Promises(
    safety_level=SafetyLevel.SAFE_WRITE,
    safety_mode=SafetyMode.HEADLESS_SAFE,
    determinism=Determinism.DETERMINISTIC,
    idempotence=Idempotence.IDEMPOTENT,
    revert=Revert.INVERSE,
    replayable=True,
)
# Writes what it names; a second call with the same arguments is refused, or does something else.
SAFE_ONE_TIME_WRITE = SAFE_IDEMPOTENT_WRITE.but(idempotence=Idempotence.NON_IDEMPOTENT)
# Writes what it names; a second call with the same arguments adds to the first.
SAFE_ACCUMULATING_WRITE = SAFE_IDEMPOTENT_WRITE.but(idempotence=Idempotence.ACCUMULATING)
# Destroys what it names; a second call finds nothing any more and is refused.
DESTRUCTIVE_WRITE = SAFE_ONE_TIME_WRITE.but(safety_level=SafetyLevel.DESTRUCTIVE)
