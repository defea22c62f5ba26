"""Landlock: the kernel refuses every file that no rule names, and TCP altogether.

It knows rules and rights, not which paths Blender needs (`paths` does).
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

# Before ABI 3 a file that may be read can be emptied, since truncation was no right of its own.
COMPLETE_ABI = 3

_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1


class Right(IntFlag):
    """Rights over files, in the order of the kernel's bits."""

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


# Loading a shared library maps it, which needs READ_FILE only: EXECUTE is for what a launcher becomes, and nothing else.
READ = Right.READ_FILE | Right.READ_DIR
RUN = READ | Right.EXECUTE
DEVICE = Right.READ_FILE | Right.WRITE_FILE
# No links, sockets, fifos and devices: the core walks the scratch afterwards and must not be led astray.
WRITE = (
    READ
    | (Right.WRITE_FILE | Right.TRUNCATE | Right.REFER)
    | (Right.MAKE_DIR | Right.MAKE_REG | Right.REMOVE_DIR | Right.REMOVE_FILE)
)
_OF_A_FILE = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
_ALL_TCP = 0b11  # bind and connect, ABI 4
_ALL_SCOPES = 0b11  # abstract unix sockets and signals to processes outside, ABI 6


def abi() -> int:
    """The version of Landlock in the running kernel, 0 when it has none or has it switched off."""
    try:
        return syscall("landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION))
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM):
            return 0
        raise


def _known_rights(version: int) -> Right:
    rights = ~Right(0)
    for since, right in ((2, Right.REFER), (3, Right.TRUNCATE), (5, Right.IOCTL_DEV)):
        if version < since:
            rights &= ~right
    return rights


def _create_ruleset(version: int) -> int:
    files = int(_known_rights(version))
    attributes = struct.pack("=QQQ", files, _ALL_TCP, _ALL_SCOPES)
    # A kernel refuses an attribute longer than its own with bits it does not know.
    attributes = attributes[: 8 if version < 4 else 16 if version < 6 else 24]
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return syscall("landlock_create_ruleset", buffer, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))


def _allow(ruleset: int, path: Path, rights: Right, identity: tuple[int, int] | None = None) -> None:
    """One rule; where an identity (device and inode) is given, for that very file or for none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | (0 if identity is None else os.O_NOFOLLOW))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what is not there, or out of our reach anyhow, needs no rule
    try:
        status = os.fstat(descriptor)
        if identity is not None and (identity != (status.st_dev, status.st_ino) or not stat.S_ISREG(status.st_mode)):
            return  # it was put there after somebody judged the one that was meant
        if not stat.S_ISDIR(status.st_mode):
            rights &= _OF_A_FILE
        buffer = ctypes.create_string_buffer(struct.pack("=Qi", int(rights), descriptor), 12)
        syscall(
            "landlock_add_rule", ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), buffer, ctypes.c_uint32(0)
        )
    finally:
        os.close(descriptor)


def restrict(version: int, rules: Iterable[tuple[Path, Right]], files: Iterable[File] = ()) -> None:
    """Restrict the calling thread, and all it will start, to the rules; needs no_new_privs."""
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
