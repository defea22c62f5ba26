"""How attacks are listed, and what they share."""

import ctypes
import errno
import os
import platform
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

Attack = Callable[[Path, Path], object]

ATTACKS: dict[str, Attack] = {}
HARMLESS: set[str] = set()
"""Attacks that can be run unconfined to show that they would succeed."""

SECRET = "secret.txt"
LIBRARY = "outside.blend"
SCRIPT = "outside.py"
HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)

libc = ctypes.CDLL(None, use_errno=True)


def attack(*, harmless: bool) -> Callable[[Attack], Attack]:
    def register(function: Attack) -> Attack:
        name = function.__name__
        ATTACKS[name] = function
        if harmless:
            HARMLESS.add(name)
        return function

    return register


def bpy() -> Any:
    import bpy as module

    return module


# x86_64 and aarch64; written down again, so that a wrong number in the package is not repeated here.
_NUMBERS = {
    "bpf": (321, 280),
    "execve": (59, 221),
    "execveat": (322, 281),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "mount": (165, 40),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "unshare": (272, 97),
}


def raw(name: str, *arguments: object) -> int:
    """A system call past all of Python; an error is an OSError."""
    number = _NUMBERS[name][platform.machine() == "aarch64"]
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def passes(name: str, *arguments: object) -> bool:
    """Whether the kernel looks at a call's arguments, which are wrong, instead of refusing it with EPERM."""
    try:
        raw(name, *arguments)
    except OSError as error:
        return error.errno != errno.EPERM
    return True
