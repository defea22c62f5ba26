"""What a tool promises: the words for it, and named profiles of what a tool of a common sort guarantees about every call.

A tool names exactly one profile, the kinds of datablock that it may change, and the capabilities that it needs:
`promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")`. Where it differs from the profile, it says so in
the same line, for everyone to see: `.but(determinism=Determinism.SEEDED)`.
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
    """Words that come in an order: `rank` grows from the first on."""

    def __init__(self, _: str) -> None:
        self.rank = len(type(self).__members__)


class SafetyLevel(Ordered):
    """How much a call may change; ordered from harmless to harmful."""

    READ_ONLY = "read_only"
    SAFE_WRITE = "safe_write"
    DESTRUCTIVE = "destructive"


class SafetyMode(StrEnum):
    """What a call needs around it."""

    HEADLESS_SAFE = "headless_safe"
    UI_ASSISTED = "ui_assisted"
    UNSAFE_OPS = "unsafe_ops"


class Determinism(Ordered):
    """Whether equal input gives equal output; ordered from strong to weak."""

    DETERMINISTIC = "deterministic"
    SEEDED = "seeded"
    NONDETERMINISTIC = "nondeterministic"


def strictest(*demands: Determinism | None) -> Determinism | None:
    """The strongest of what is demanded; None where nothing is."""
    return min((demand for demand in demands if demand is not None), key=lambda demand: demand.rank, default=None)


class Idempotence(StrEnum):
    """What a repetition with equal arguments does."""

    IDEMPOTENT = "idempotent"
    ACCUMULATING = "accumulating"
    NON_IDEMPOTENT = "non_idempotent"


class Revert(StrEnum):
    """How a step is taken back, before the last resort of rebuilding the scene."""

    NOTHING = "nothing"  # a read-only tool
    INVERSE = "inverse"  # the recorded inverse of each write
    MEMFILE = "memfile"  # Blender's own undo: the tool calls operators whose writes nobody records


class Isolation(StrEnum):
    """Which Blender process a call runs in."""

    SHARED = "shared"  # the one that holds the scene, which goes on holding it
    REPLACED = "replaced"  # the one that holds the scene; a clean one takes its place afterwards
    DISPOSABLE = "disposable"  # one that gets a copy, is never used again, and whose result is checked before it counts


@dataclass(frozen=True, slots=True)
class Requires:
    """What a tool needs of the Blender it runs in; `blender_max` is the first version that is too new."""

    blender_min: Version
    capabilities: tuple[str, ...]
    blender_max: Version | None = None


class Changes(TypedDict, total=False):
    """The promises that can be stated otherwise than a profile has them."""

    safety_level: SafetyLevel
    safety_mode: SafetyMode
    determinism: Determinism
    idempotence: Idempotence
    revert: Revert
    replayable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a tool guarantees about every call. A profile states all but `writes` and `requires`, which each tool has to say."""

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
        """With the kinds of datablock that a call may change; none for a tool that writes files only."""
        return replace(self, writes=kinds)

    def needs(
        self, *capabilities: str, blender_min: Version = OLDEST_BLENDER, blender_max: Version | None = None
    ) -> Promises:
        """With the capabilities that a session must offer, and the versions of Blender that the tool works in."""
        return replace(self, requires=Requires(blender_min, capabilities, blender_max))

    def but(self, **changes: Unpack[Changes]) -> Promises:
        """These promises with some of them changed."""
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
