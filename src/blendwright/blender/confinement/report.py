"""The access that a worker asks for, and the account of its confinement."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# A single readable file: its path, and its expected device and inode, because the path may lead to another file by now.
File = tuple[Path, tuple[int, int]]


@dataclass(frozen=True)
class Allowance:
    """The access of a worker in addition to the needs of Python and Blender: a directory to write, files to read, and limits."""

    scratch: Path

    readable: Sequence[Path] = ()
    """Further directories that the worker may read."""

    files: Sequence[File] = ()

    address_space: int = 16 << 30
    """Limit in bytes. Blender reserves far more than the memory it uses, and needs 6 GB to start reliably."""

    file_size: int = 4 << 30
    """Maximum size of one file in bytes."""

    home: Path | None = None
    """The user's home directory for the self-test, if a launcher has already made the user database unreachable."""


@dataclass(frozen=True)
class Confinement:
    """An account of the layers that hold. It is part of the Blender profile, so that the core can refuse `safe` Python without them."""

    level: str
    """`full`: every layer holds and refuses every forbidden act; `partial`: some layers hold; `none`: no layer holds."""

    landlock_abi: int
    """The version of Landlock that restricts files; 0 without Landlock."""

    seccomp: bool
    rlimits: bool

    selftest: tuple[str, ...]
    """Names of forbidden acts that were not refused; empty if all were refused."""

    reason: str | None
    """The reason for a level below full, in words; None for full."""
