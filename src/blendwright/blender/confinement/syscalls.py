"""System calls of the confinement: their numbers, grouped by the answer of a confined worker's filter.

The allowed calls are those that Python, numpy and Blender 5.0 were observed to need for scenes, renders and file exchange.
An allowed call must not reach another process, the network, or a file that Landlock does not protect. Calls without an entry
answer EPERM.
"""

import ctypes
import os
import platform
import sys
from typing import Literal

Architecture = Literal["x86_64", "aarch64"]

# The numbers of a call in the kernel's ABI, in the order of `_ARCHITECTURES`. None means that the architecture lacks the call.
Numbers = tuple[int | None, int | None]
_ARCHITECTURES: tuple[Architecture, ...] = ("x86_64", "aarch64")
_MACHINES: dict[str, Architecture] = {
    **dict.fromkeys(("x86_64", "AMD64", "amd64"), "x86_64"),
    **dict.fromkeys(("aarch64", "arm64"), "aarch64"),
}

ALLOWED: dict[str, Numbers] = {
    # Memory.
    "brk": (12, 214),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "madvise": (28, 233),
    "mincore": (27, 232),
    "msync": (26, 227),
    "membarrier": (324, 283),
    "mbind": (237, 235),
    "get_mempolicy": (239, 236),
    # Open files, pipes and inherited sockets.
    "read": (0, 63),
    "readv": (19, 65),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "write": (1, 64),
    "writev": (20, 66),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "fadvise64": (221, 223),
    "flock": (73, 32),
    "sendfile": (40, 71),
    "copy_file_range": (326, 285),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "eventfd2": (290, 19),
    # Calls with a path. Landlock decides about them, except `stat` and `readlink`, so names and sizes stay visible.
    "openat": (257, 56),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "stat": (4, None),
    "lstat": (6, None),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "truncate": (76, 45),
    "umask": (95, 166),
    # Waiting.
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "wait4": (61, 260),
    # Threads and signals of this process.
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "arch_prctl": (158, None),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    # Facts.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "times": (100, 153),
    "getrandom": (318, 278),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getcpu": (309, 168),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getpgrp": (111, None),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
}

# Calls that are allowed only with the arguments in `seccomp.conditions`.
CONDITIONAL: dict[str, Numbers] = {
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prctl": (157, 167),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "sched_setaffinity": (203, 122),
    "prlimit64": (302, 261),
}

# Calls that report success without doing anything. USD calls chmod on written files and fails if it is refused.
PRETENDED: dict[str, Numbers] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
}

# Calls that a kernel may lack, so libraries work without them. glibc tries clone3 first, whose flags a filter cannot see, and falls
# back to clone. No process would account for the memory of a mapped and closed memfd, and Blender creates none.
ABSENT: dict[str, Numbers] = {"clone3": (435, 435), "memfd_create": (319, 279)}

# Calls that are refused like unlisted ones. Confinement itself makes them before it installs the filter, or tests the refusal.
REFUSED: dict[str, Numbers] = {
    "execve": (59, 221),
    "io_uring_setup": (425, 425),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "ptrace": (101, 117),
    "seccomp": (317, 277),
    "unshare": (272, 97),
}

_NUMBERS = ALLOWED | CONDITIONAL | PRETENDED | ABSENT | REFUSED


def this_architecture() -> Architecture | None:
    """Return the architecture of this process; None if there are no numbers for it."""
    if sys.maxsize > 2**32:
        return _MACHINES.get(platform.machine())
    return None


def number(name: str, architecture: Architecture) -> int | None:
    """Return the number of a call; None if the architecture does not have it. Raise KeyError for an unknown name."""
    return _NUMBERS[name][_ARCHITECTURES.index(architecture)]


def syscall(name: str, *arguments: object) -> int:
    """Make the call with ctypes arguments and return its result. Raise OSError on failure."""
    architecture = this_architecture()
    if architecture is None:
        call_number = None
    else:
        call_number = number(name, architecture)
    if call_number is None:
        raise NotImplementedError(f"{name} has no number on {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(call_number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
