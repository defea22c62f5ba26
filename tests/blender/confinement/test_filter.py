"""The seccomp filter of both architectures, run instruction by instruction as the kernel would."""

import errno
import struct

import pytest

from blendwright.blender.confinement.seccomp import Instruction, build_filter, conditions
from blendwright.blender.confinement.syscalls import ABSENT, ALLOWED, CONDITIONAL, PRETENDED, Architecture, number

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERRNO = 0x00050000
REFUSE = ERRNO | errno.EPERM
AUDIT: dict[Architecture, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

OWN_PID = 4242
THREAD = 0x3D0F00  # the flags with which glibc starts a thread
BOTH: tuple[Architecture, ...] = ("x86_64", "aarch64")

# Written down again from the kernel's tables, so that a wrong number in the package shows.
KNOWN_NUMBERS: dict[Architecture, dict[str, int]] = {
    "x86_64": {"read": 0, "openat": 257, "clone": 56, "kill": 62, "prctl": 157, "prlimit64": 302, "fchmodat": 268},
    "aarch64": {"read": 63, "openat": 56, "clone": 220, "kill": 129, "prctl": 167, "prlimit64": 261, "fchmodat": 53},
}
FORBIDDEN: dict[Architecture, dict[str, int]] = {
    "x86_64": {
        "socket": 41,
        "connect": 42,
        "fork": 57,
        "vfork": 58,
        "execve": 59,
        "ptrace": 101,
        "link": 86,
        "symlink": 88,
        "mknod": 133,
        "mount": 165,
        "unshare": 272,
        "execveat": 322,
        "io_uring_setup": 425,
        "tkill": 200,
        "setuid": 105,
        "setrlimit": 160,
        "bpf": 321,
        "process_vm_readv": 310,
        "pidfd_open": 434,
        "open_by_handle_at": 304,
        "linkat": 265,
        "symlinkat": 266,
        "rt_sigqueueinfo": 129,
        "setns": 308,
    },
    "aarch64": {
        "socket": 198,
        "connect": 203,
        "execve": 221,
        "ptrace": 117,
        "linkat": 37,
        "symlinkat": 36,
        "mknodat": 33,
        "mount": 40,
        "unshare": 97,
        "execveat": 281,
        "io_uring_setup": 425,
        "tkill": 130,
        "setuid": 146,
        "setrlimit": 164,
        "bpf": 280,
        "process_vm_readv": 270,
        "pidfd_open": 434,
        "open_by_handle_at": 265,
        "rt_sigqueueinfo": 138,
        "setns": 268,
    },
}


def answer(program: list[Instruction], audit: int, call: int, *arguments: int) -> int:
    """What the kernel would answer to a call."""
    padded = [argument & (2**64 - 1) for argument in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("<IIQ6Q", call, audit, 0, *padded)
    accumulator = position = 0
    while True:
        code, if_true, if_false, operand = program[position]
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, operand)
            case 0x15:
                position += if_true if accumulator == operand else if_false
            case 0x35:
                position += if_true if accumulator >= operand else if_false
            case 0x45:
                position += if_true if accumulator & operand else if_false
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def asked(architecture: Architecture, call: str | int, *arguments: int) -> int:
    found = number(call, architecture) if isinstance(call, str) else call
    assert found is not None
    return answer(build_filter(architecture, OWN_PID), AUDIT[architecture], found, *arguments)


@pytest.mark.parametrize("architecture", BOTH)
def test_names_have_the_numbers_of_the_kernel(architecture: Architecture) -> None:
    assert {name: number(name, architecture) for name in KNOWN_NUMBERS[architecture]} == KNOWN_NUMBERS[architecture]


@pytest.mark.parametrize("architecture", BOTH)
def test_every_listed_call_is_allowed(architecture: Architecture) -> None:
    names = [name for name in ALLOWED if number(name, architecture) is not None]
    assert [name for name in names if asked(architecture, name, 1, 2, 3) != ALLOW] == []


@pytest.mark.parametrize("architecture", BOTH)
def test_only_the_listed_calls_have_another_answer_than_eperm(architecture: Architecture) -> None:
    numbers = {number(name, architecture) for name in {**ALLOWED, **CONDITIONAL, **PRETENDED, **ABSENT}}
    program = build_filter(architecture, OWN_PID)
    answered = {call for call in range(600) if answer(program, AUDIT[architecture], call, OWN_PID) != REFUSE}
    assert answered <= numbers


def test_every_call_with_conditions_is_listed_as_one() -> None:
    assert conditions(OWN_PID).keys() == CONDITIONAL.keys()


@pytest.mark.parametrize("architecture", BOTH)
def test_dangerous_calls_are_refused(architecture: Architecture) -> None:
    calls = FORBIDDEN[architecture]
    assert {name for name, call in calls.items() if asked(architecture, call, OWN_PID) != REFUSE} == set()


@pytest.mark.parametrize("architecture", BOTH)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("clone", (THREAD,), ALLOW),
        ("clone", (17,), REFUSE),
        ("clone", (THREAD | 0x40000000,), REFUSE),
        ("clone", (THREAD | 0x00020000,), REFUSE),
        ("clone3", (0,), ERRNO | errno.ENOSYS),
        ("kill", (OWN_PID, 6), ALLOW),
        ("kill", (OWN_PID - 1, 0), REFUSE),
        ("kill", (0, 0), REFUSE),
        ("kill", (-1, 9), REFUSE),
        ("kill", (-OWN_PID, 9), REFUSE),
        ("tgkill", (OWN_PID, OWN_PID, 6), ALLOW),
        ("tgkill", (1, 1, 6), REFUSE),
        ("prctl", (15, 0), ALLOW),
        ("prctl", (16, 0), ALLOW),
        ("prctl", (0x53564D41, 0), ALLOW),
        ("prctl", (1, 0), REFUSE),
        ("fcntl", (3, 4, 0), ALLOW),
        ("fcntl", (3, 1030, 0), ALLOW),
        ("fcntl", (3, 8, 1), REFUSE),
        ("fcntl", (3, 10, 9), REFUSE),
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), REFUSE),
        ("ioctl", (0, 0x100005412), REFUSE),
        ("prlimit64", (0, 7, 0, 0x7FFF0000), ALLOW),
        ("prlimit64", (1, 7, 0, 0x7FFF0000), REFUSE),
        ("prlimit64", (0, 7, 0x7FFF00000000, 0), REFUSE),
        ("sched_setaffinity", (0, 8, 0), ALLOW),
        ("sched_setaffinity", (1, 8, 0), REFUSE),
        ("fchmod", (3, 0o777), ERRNO),
        ("fchmodat2", (3, 0, 0o777), ERRNO),
    ],
)
def test_arguments_decide(architecture: Architecture, call: str, arguments: tuple[int, ...], expected: int) -> None:
    assert asked(architecture, call, *arguments) == expected


@pytest.mark.parametrize("architecture", BOTH)
def test_a_foreign_abi_ends_the_process(architecture: Architecture) -> None:
    i386 = 0x40000003
    assert answer(build_filter(architecture, OWN_PID), i386, 0) == KILL_PROCESS


def test_the_x32_abi_ends_the_process() -> None:
    assert asked("x86_64", 0x40000000) == KILL_PROCESS
