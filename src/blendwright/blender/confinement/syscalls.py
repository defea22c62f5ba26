"""The system calls that confinement speaks of, by name, and the way to make one directly.

Numbers are facts of the kernel's ABI, one column per supported architecture; `None` stands for a call that the
architecture never had. This module decides nothing about what is allowed.
"""

import ctypes
import os
import platform
import sys
from typing import Literal

Architecture = Literal["x86_64", "aarch64"]

_X86_64, _AARCH64 = 0, 1
_COLUMNS: dict[Architecture, int] = {"x86_64": _X86_64, "aarch64": _AARCH64}

_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "access": (21, None),
    "arch_prctl": (158, None),
    "brk": (12, 214),
    "chdir": (80, 49),
    "chmod": (90, None),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "close_range": (436, 436),
    "copy_file_range": (326, 285),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_wait": (232, None),
    "eventfd2": (290, 19),
    "execve": (59, 221),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fadvise64": (221, 223),
    "fallocate": (285, 47),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fcntl": (72, 25),
    "fdatasync": (75, 83),
    "flock": (73, 32),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "futex": (202, 98),
    "get_mempolicy": (239, 236),
    "get_robust_list": (274, 100),
    "getcpu": (309, 168),
    "getcwd": (79, 17),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "lstat": (6, None),
    "madvise": (28, 233),
    "mbind": (237, 235),
    "membarrier": (324, 283),
    "memfd_create": (319, 279),
    "mincore": (27, 232),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "msync": (26, 227),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "newfstatat": (262, 79),
    "openat": (257, 56),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "prlimit64": (302, 261),
    "pselect6": (270, 72),
    "ptrace": (101, 117),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "read": (0, 63),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "readv": (19, 65),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "restart_syscall": (219, 128),
    "rmdir": (84, None),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_setaffinity": (203, 122),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "select": (23, None),
    "sendfile": (40, 71),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "sigaltstack": (131, 132),
    "stat": (4, None),
    "statfs": (137, 43),
    "statx": (332, 291),
    "sysinfo": (99, 179),
    "tgkill": (234, 131),
    "times": (100, 153),
    "truncate": (76, 45),
    "umask": (95, 166),
    "uname": (63, 160),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "unshare": (272, 97),
    "wait4": (61, 260),
    "write": (1, 64),
    "writev": (20, 66),
}


def this_architecture() -> Architecture | None:
    """The architecture of this process, or None when there are no numbers for it."""
    if sys.maxsize <= 2**32:
        return None
    match platform.machine():
        case "x86_64" | "AMD64" | "amd64":
            return "x86_64"
        case "aarch64" | "arm64":
            return "aarch64"
        case _:
            return None


def number(name: str, architecture: Architecture) -> int | None:
    """The number of a call, None when the architecture does not have it; an unknown name is a KeyError."""
    return _NUMBERS[name][_COLUMNS[architecture]]


def syscall(name: str, *arguments: object) -> int:
    """Make the call with ctypes arguments; a failure is an OSError."""
    architecture = this_architecture()
    call_number = None if architecture is None else number(name, architecture)
    if call_number is None:
        raise NotImplementedError(f"{name} has no number on {platform.machine()}")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(call_number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
