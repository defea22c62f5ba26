"""Construction and installation of a seccomp filter from the list of system calls in `syscalls`."""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

from blendwright.blender.confinement.syscalls import ABSENT, ALLOWED, PRETENDED, Architecture, number, syscall

# Classic BPF: load a word of `struct seccomp_data`, compare, return.
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_ARGUMENTS = 0, 4, 16
_AUDIT_ARCHITECTURE: dict[Architecture, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_FILTER_FLAG_TSYNC = 1


_CLONE_THREAD = 0x00010000
_CLONE_NEW_NAMESPACE = 0x7E020000  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET

_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41

# F_SETOWN, F_SETOWN_EX and F_SETSIG are not included, because with them the kernel would send a signal for this process.
_FCNTL_COMMANDS = (
    *(0, 1, 2, 3, 4),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL
    *(5, 6, 7, 36, 37, 38),  # F_GETLK, F_SETLK, F_SETLKW and the same for open file descriptions
    *(1030, 1033, 1034),  # F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS
)

# TIOCSTI is not included, because it types into the terminal from which the user started the process.
_IOCTL_REQUESTS = (
    *(0x5401, 0x802C542A, 0x5413),  # TCGETS, TCGETS2 (isatty) and TIOCGWINSZ
    *(0x541B, 0x5421, 0x5450, 0x5451),  # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
)


class Instruction(NamedTuple):
    """An instruction of the filter. Jumps are relative to the next instruction."""

    code: int
    if_true: int
    if_false: int
    operand: int


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def _answer(value: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, value)


def _load(offset: int) -> Instruction:
    return Instruction(_LOAD, 0, 0, offset)


def _low_word(index: int) -> int:
    return _OFFSET_ARGUMENTS + 8 * index  # both architectures are little-endian


_REFUSE = _answer(_ERRNO | errno.EPERM)


def _argument_in(index: int, *values: int) -> list[Instruction]:
    """Return instructions that allow a call if an argument (32 bits, as the kernel reads it) is one of the values."""
    comparisons = [Instruction(_JUMP_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)]
    return [_load(_low_word(index)), *comparisons, _REFUSE, _answer(_ALLOW)]


def _flags_within(index: int, *, needed: int, refused: int) -> list[Instruction]:
    """Return instructions that allow a call if the flags in an argument contain `needed` and none of `refused`."""
    checks = [Instruction(_JUMP_ANY_BIT, 0, 1, needed), Instruction(_JUMP_ANY_BIT, 0, 1, refused)]
    return [_load(_low_word(index)), *checks, _REFUSE, _answer(_ALLOW)]


def _arguments_zero(*indices: int) -> list[Instruction]:
    """Return instructions that allow a call if all of these arguments (64 bits) are zero."""
    body: list[Instruction] = []
    for index in indices:
        for half in (0, 4):
            word = _low_word(index) + half
            body += [_load(word), Instruction(_JUMP_EQUAL, 1, 0, 0), _REFUSE]
    return [*body, _answer(_ALLOW)]


def conditions(own_pid: int) -> dict[str, list[Instruction]]:
    """Return the calls that are allowed only for some arguments, each with instructions that always end in an answer."""
    return {
        "clone": _flags_within(0, needed=_CLONE_THREAD, refused=_CLONE_NEW_NAMESPACE),
        "kill": _argument_in(0, own_pid),
        "tgkill": _argument_in(0, own_pid),
        "prctl": _argument_in(0, _PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA),
        "fcntl": _argument_in(1, *_FCNTL_COMMANDS),
        "ioctl": _argument_in(1, *_IOCTL_REQUESTS),
        # Mesa finds CPUs that share a cache by moving its thread over them. Only the main thread may do this.
        "sched_setaffinity": _argument_in(0, 0, own_pid),
        # Only reading of the process's limits. A pid would reach the parent's limits, and a new value would raise them.
        "prlimit64": _arguments_zero(0, 2),
    }


def build_filter(architecture: Architecture, own_pid: int) -> list[Instruction]:
    """Return the whole filter. Foreign ABIs end the process, listed calls get their answer, all other calls get EPERM."""
    program = [
        _load(_OFFSET_ARCHITECTURE),
        Instruction(_JUMP_EQUAL, 1, 0, _AUDIT_ARCHITECTURE[architecture]),
        _answer(_KILL_PROCESS),
        _load(_OFFSET_NUMBER),
    ]
    if architecture == "x86_64":
        program += [Instruction(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), _answer(_KILL_PROCESS)]

    bodies: dict[str, list[Instruction]] = {}
    for names, value in ((ALLOWED, _ALLOW), (PRETENDED, _ERRNO), (ABSENT, _ERRNO | errno.ENOSYS)):
        for name in names:
            bodies[name] = [_answer(value)]
    bodies |= conditions(own_pid)
    for name, body in bodies.items():
        call_number = number(name, architecture)
        if call_number is not None:
            program += [Instruction(_JUMP_EQUAL, 0, len(body), call_number), *body]
    program.append(_REFUSE)
    return program


def install(architecture: Architecture) -> None:
    """Put the filter on every thread of this process. This needs no_new_privs. Raise OSError if the kernel refuses."""
    program = build_filter(architecture, os.getpid())
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    argument = _Program(len(program), ctypes.cast(buffer, ctypes.c_void_p))
    unsynchronised = syscall(
        "seccomp",
        ctypes.c_uint(_SECCOMP_SET_MODE_FILTER),
        ctypes.c_uint(_SECCOMP_FILTER_FLAG_TSYNC),
        ctypes.byref(argument),
    )
    if unsynchronised:
        raise OSError(errno.ESRCH, f"seccomp: thread {unsynchronised} has another filter")
