"""Named profiles of promises: what a tool of a common sort guarantees about every call, in one word.

A tool names exactly one profile. Where it differs in something, it says so in the same line, for everyone to see:
`promises = SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.SEEDED)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from blendwright.tool_api.effects import Determinism, Idempotence, Revert, SafetyLevel, SafetyMode


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
    """What a tool guarantees about every call. There are no defaults: a profile states all of it."""

    safety_level: SafetyLevel
    safety_mode: SafetyMode
    determinism: Determinism
    idempotence: Idempotence
    revert: Revert
    replayable: bool
    """Whether the journal can run a call again to rebuild a scene."""

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
)
# Writes what it names; a second call with the same arguments changes nothing.
SAFE_IDEMPOTENT_WRITE = READ_ONLY.but(safety_level=SafetyLevel.SAFE_WRITE, revert=Revert.INVERSE)
# Writes what it names; a second call with the same arguments is refused, or does something else.
SAFE_ONE_TIME_WRITE = SAFE_IDEMPOTENT_WRITE.but(idempotence=Idempotence.NON_IDEMPOTENT)
# Writes what it names; a second call with the same arguments adds to the first.
SAFE_ACCUMULATING_WRITE = SAFE_IDEMPOTENT_WRITE.but(idempotence=Idempotence.ACCUMULATING)
# Destroys what it names; a second call finds nothing any more and is refused.
DESTRUCTIVE_WRITE = SAFE_ONE_TIME_WRITE.but(safety_level=SafetyLevel.DESTRUCTIVE)
