"""What confinement is asked for, and what a worker says about its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# A single file that may be read: its path, and the device and inode that it must have, since a path may lead elsewhere by now.
File = tuple[Path, tuple[int, int]]


@dataclass(frozen=True)
class Allowance:
    """What a worker may have besides what Python and Blender need to run: a directory to write to, what to read, and how much."""

    scratch: Path

    readable: Sequence[Path] = ()
    """Further directories."""

    files: Sequence[File] = ()

    address_space: int = 16 << 30
    """Bytes. Not memory: Blender reserves far more than it touches, and needs 6 GB to start comfortably."""

    file_size: int = 4 << 30
    """Bytes of one file."""

    home: Path | None = None
    """The user's home directory, for the self-test, where a launcher has put the means to find it out of reach."""


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
