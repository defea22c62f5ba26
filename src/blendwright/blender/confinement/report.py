"""What confinement is asked for, and what a worker says about its own."""

from dataclasses import dataclass
from pathlib import Path

# A single file that may be read: its path, and the device and inode that it must have.
File = tuple[Path, tuple[int, int]]


@dataclass(frozen=True)
class Resources:
    """What a worker may take, in bytes."""

    address_space: int = 16 << 30
    """Not memory: Blender reserves far more than it touches, and needs 6 GB to start comfortably."""

    file_size: int = 4 << 30
    """Of one file."""


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
