"""Turns the policy into a seccomp filter and installs it. What is allowed stands in `policy`, not here."""

import ctypes
import errno
import os
import struct
from typing import NamedTuple

from blendwright.blender.confinement import syscall_policy as policy
from blendwright.blender.confinement.syscalls import Architecture, number, syscall

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


class Instruction(NamedTuple):
    """One instruction; jumps are relative to the next one."""

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


def _decide(condition: policy.Condition) -> list[Instruction]:
    """Instructions that end in an answer whatever the arguments are."""
    match condition:
        case policy.ArgumentIn(index=index, values=values):
            comparisons = [
                Instruction(_JUMP_EQUAL, len(values) - position, 0, value) for position, value in enumerate(values)
            ]
            return [_load(_low_word(index)), *comparisons, _REFUSE, _answer(_ALLOW)]
        case policy.FlagsWithin(index=index, needed=needed, refused=refused):
            return [
                _load(_low_word(index)),
                Instruction(_JUMP_ANY_BIT, 0, 1, needed),
                Instruction(_JUMP_ANY_BIT, 0, 1, refused),
                _REFUSE,
                _answer(_ALLOW),
            ]
        case policy.ArgumentsZero(indices=indices):
            words = [_low_word(index) + half for index in indices for half in (0, 4)]
            body: list[Instruction] = []
            for word in words:
                body += [_load(word), Instruction(_JUMP_EQUAL, 1, 0, 0), _REFUSE]
            return [*body, _answer(_ALLOW)]


def build_filter(architecture: Architecture, own_pid: int) -> list[Instruction]:
    """The whole filter: foreign ABIs end the process, listed calls get their answer, all others EPERM."""
    program = [
        _load(_OFFSET_ARCHITECTURE),
        Instruction(_JUMP_EQUAL, 1, 0, _AUDIT_ARCHITECTURE[architecture]),
        _answer(_KILL_PROCESS),
        _load(_OFFSET_NUMBER),
    ]
    if architecture == "x86_64":
        program += [Instruction(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), _answer(_KILL_PROCESS)]

    def for_call(name: str, body: list[Instruction]) -> None:
        call_number = number(name, architecture)
        if call_number is not None:
            program.extend([Instruction(_JUMP_EQUAL, 0, len(body), call_number), *body])

    for names in policy.ALLOWED.values():
        for name in names:
            for_call(name, [_answer(_ALLOW)])
    for condition in policy.conditions(own_pid):
        for_call(condition.call, _decide(condition))
    for name in policy.PRETENDED:
        for_call(name, [_answer(_ERRNO)])
    for name in policy.ABSENT:
        for_call(name, [_answer(_ERRNO | errno.ENOSYS)])
    program.append(_REFUSE)
    return program


def install(architecture: Architecture) -> None:
    """Put the filter on every thread of this process; needs no_new_privs. An OSError says that the kernel would not."""
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
        raise OSError(errno.ESRCH, f"seccomp: thread {unsynchronised} has a filter of its own")
