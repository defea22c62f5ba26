"""What a worker says about its own confinement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Confinement:
    """Which layers hold. Goes into the Blender profile, so that the core can refuse `safe` Python without them."""

    level: str
    """`full`: every layer holds and every forbidden act was refused; `partial`: some do; `none`."""

    landlock_abi: int
    """The version of Landlock that guards files, 0 when none does."""

    seccomp: bool
    rlimits: bool

    selftest: tuple[str, ...]
    """Forbidden acts that were not refused; empty when all were."""

    reason: str | None
    """Why the level is not full, for people."""
