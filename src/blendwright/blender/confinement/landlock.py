"""Landlock. The kernel refuses access to every file without a rule, and all TCP.

This module handles rules and rights. `linux.py` decides which paths Blender needs.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from enum import IntFlag
from pathlib import Path

from blendwright.blender.confinement.report import File
from blendwright.blender.confinement.syscalls import syscall

# Before ABI 3, a readable file can be truncated, because truncation was not a separate right.
COMPLETE_ABI = 3

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1


class Right(IntFlag):
    """Rights on files, in the order of the kernel's bits."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


# Loading a shared library maps it, which only needs READ_FILE. Only the program that a launcher becomes needs EXECUTE.
READ = Right.READ_FILE | Right.READ_DIR
RUN = READ | Right.EXECUTE
DEVICE = Right.READ_FILE | Right.WRITE_FILE
# Links, sockets, fifos and devices are not included, because they could mislead the core when it reads the scratch directory.
WRITE = (
    READ
    | (Right.WRITE_FILE | Right.TRUNCATE | Right.REFER)
    | (Right.MAKE_DIR | Right.MAKE_REG | Right.REMOVE_DIR | Right.REMOVE_FILE)
)
_FILE_RIGHTS = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
_ALL_TCP = 0b11  # bind and connect, ABI 4
_ALL_SCOPES = 0b11  # abstract unix sockets and signals to processes outside, ABI 6


def abi() -> int:
    """Return the version of Landlock in the running kernel; 0 if it is missing or disabled."""
    try:
        return syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION))
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def _known_rights(version: int) -> Right:
    """Return the rights that a version of Landlock knows."""
    rights = ~Right(0)
    for since, right in ((2, Right.REFER), (3, Right.TRUNCATE), (5, Right.IOCTL_DEV)):
        if version < since:
            rights &= ~right
    return rights


def _create_ruleset(version: int) -> int:
    """Create a ruleset that handles all known rights, and return its descriptor."""
    files = int(_known_rights(version))
    attributes = struct.pack("=QQQ", files, _ALL_TCP, _ALL_SCOPES)
    # A kernel refuses an attribute with unknown bits beyond the length that it knows.
    if version < 4:
        attributes = attributes[:8]
    elif version < 6:
        attributes = attributes[:16]
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return syscall("landlock_create_ruleset", buffer, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))


def _allow(ruleset: int, path: Path, rights: Right, identity: tuple[int, int] | None = None) -> None:
    """Add a rule for a path. With an identity (device and inode), add it only if the path still leads to that regular file."""
    flags = os.O_PATH | os.O_CLOEXEC
    if identity is not None:
        flags |= os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # a missing or unreachable path needs no rule
    try:
        status = os.fstat(descriptor)
        if identity is not None and (identity != (status.st_dev, status.st_ino) or not stat.S_ISREG(status.st_mode)):
            return  # another file replaced the one that was checked
        if not stat.S_ISDIR(status.st_mode):
            rights &= _FILE_RIGHTS
        buffer = ctypes.create_string_buffer(struct.pack("=Qi", int(rights), descriptor), 12)
        syscall(
            "landlock_add_rule", ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), buffer, ctypes.c_uint32(0)
        )
    finally:
        os.close(descriptor)


def restrict(version: int, rules: Iterable[tuple[Path, Right]], files: Iterable[File] = ()) -> None:
    """Restrict the calling thread and all threads that it starts later to the rules. This needs no_new_privs."""
    supported = _known_rights(version)
    ruleset = _create_ruleset(version)
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & supported)
        for path, identity in files:
            _allow(ruleset, path, READ & supported, identity)
        syscall("landlock_restrict_self", ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
