"""Named profiles of promises: what a tool of a common sort guarantees about every call, in one word.

A tool names exactly one profile, the kinds of datablock that it may change, and the capabilities that it needs:
`promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.LIGHT).needs("object_write")`. Where it differs from the profile, it says so in
the same line, for everyone to see: `.but(determinism=Determinism.SEEDED)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode

Version = tuple[int, int, int]
OLDEST_BLENDER: Version = (4, 2, 0)


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
