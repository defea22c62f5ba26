"""The system calls a confined worker may make, as data. All others answer EPERM.

What is listed is what Python, numpy and Blender 5.0 were seen to need for scenes, renders and file exchange.
A call belongs here only if it cannot reach another process, the network or a file that Landlock does not guard.
"""

from dataclasses import dataclass

ALLOWED: dict[str, tuple[str, ...]] = {
    "memory": (
        *("brk", "mmap", "mprotect", "mremap", "munmap", "madvise", "mincore", "msync", "membarrier"),
        *("memfd_create", "mbind", "get_mempolicy"),
    ),
    "open files, pipes and inherited sockets": (
        *("read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "pwritev", "lseek", "close"),
        *("close_range", "dup", "dup2", "dup3", "fsync", "fdatasync", "ftruncate", "fallocate", "fadvise64", "flock"),
        *("sendfile", "copy_file_range", "pipe", "pipe2", "eventfd2"),
    ),
    # By path: Landlock decides which. `stat` and `readlink` it cannot refuse, so names and sizes can be learnt.
    "paths": (
        *("openat", "access", "faccessat", "faccessat2", "stat", "lstat", "fstat", "newfstatat", "statx", "statfs"),
        *("fstatfs", "readlink", "readlinkat", "getcwd", "chdir", "getdents", "getdents64", "mkdir", "mkdirat"),
        *("rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "truncate", "umask"),
    ),
    "waiting": (
        *("poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait"),
        *("nanosleep", "clock_nanosleep", "restart_syscall", "sched_yield", "wait4"),
    ),
    "threads and signals of this process": (
        *("futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "arch_prctl", "exit"),
        *("exit_group", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack"),
        *("sched_getaffinity", "sched_getparam", "sched_getscheduler"),
    ),
    "facts": (
        *("clock_gettime", "clock_getres", "gettimeofday", "times", "getrandom", "uname", "sysinfo", "getcpu"),
        *("getpid", "gettid", "getppid", "getpgrp", "getuid", "geteuid", "getgid", "getegid", "getgroups"),
        *("getrlimit", "getrusage"),
    ),
}

# USD calls chmod on what it writes and gives up when refused; the answer is "done", and nothing is done.
PRETENDED = ("chmod", "fchmod", "fchmodat", "fchmodat2")

# glibc asks for clone3 first, whose flags a filter cannot see, and falls back to clone when the kernel lacks it.
ABSENT = ("clone3",)


@dataclass(frozen=True)
class ArgumentIn:
    """Allowed when the argument (32 bits, as the kernel reads it) is one of the values."""

    call: str
    index: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class FlagsWithin:
    """Allowed when the flags in the argument hold `needed` and none of `refused`."""

    call: str
    index: int
    needed: int
    refused: int


@dataclass(frozen=True)
class ArgumentsZero:
    """Allowed when all of these arguments (64 bits) are zero."""

    call: str
    indices: tuple[int, ...]


Condition = ArgumentIn | FlagsWithin | ArgumentsZero

_CLONE_THREAD = 0x00010000
_CLONE_NEW_NAMESPACE = 0x7E020000  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET

_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41

# Not among them: F_SETOWN, F_SETOWN_EX and F_SETSIG, by which the kernel would send a signal on our behalf.
_FCNTL_COMMANDS = (
    *(0, 1, 2, 3, 4),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL
    *(5, 6, 7, 36, 37, 38),  # F_GETLK, F_SETLK, F_SETLKW and the same for open file descriptions
    *(1030, 1033, 1034),  # F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS
)

# Not among them: TIOCSTI, which types into the terminal of whoever started us.
_IOCTL_REQUESTS = (
    *(0x5401, 0x802C542A, 0x5413),  # TCGETS, TCGETS2 (isatty) and TIOCGWINSZ
    *(0x541B, 0x5421, 0x5450, 0x5451),  # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
)


def conditions(own_pid: int) -> tuple[Condition, ...]:
    """The calls that are allowed for some arguments only."""
    return (
        FlagsWithin("clone", 0, needed=_CLONE_THREAD, refused=_CLONE_NEW_NAMESPACE),
        ArgumentIn("kill", 0, (own_pid,)),
        ArgumentIn("tgkill", 0, (own_pid,)),
        ArgumentIn("prctl", 0, (_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA)),
        ArgumentIn("fcntl", 1, _FCNTL_COMMANDS),
        ArgumentIn("ioctl", 1, _IOCTL_REQUESTS),
        # Mesa learns which CPUs share a cache by moving its thread over them; a thread other than the main one may not.
        ArgumentIn("sched_setaffinity", 0, (0, own_pid)),
        # Reading our own limits; a pid would reach the parent's, a new value would lift ours.
        ArgumentsZero("prlimit64", (0, 2)),
    )
