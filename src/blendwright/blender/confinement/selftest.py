"""A self-test that tries forbidden acts and names the acts that the kernel did not refuse.

Each act must be harmless if it succeeds. A child ends immediately, a file is deleted, and a signal has the number 0.
A call that would change the process uses arguments that the kernel rejects.
"""

import ctypes
import errno
import os
import socket
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from blendwright.blender.confinement.syscalls import syscall

_PTRACE_ATTACH = 16
_DISCARD_PORT = 9


@dataclass(frozen=True)
class Surroundings:
    """Paths that the acts need, collected before confinement hides them."""

    scratch: Path
    readable: tuple[Path, ...]
    home: Path | None

    def outside(self, path: Path) -> bool:
        """Return True if no rule covers the path, so that a refusal is expected."""
        return not any(map(path.is_relative_to, (self.scratch, *self.readable)))


Act = Callable[[Surroundings], bool]


def _reaches_kernel(name: str, *arguments: object) -> bool:
    """Return True if a call passes the filter. The kernel rejects these arguments with an error other than EPERM."""
    try:
        syscall(name, *arguments)
    except OSError as error:
        return error.errno not in (errno.EPERM, errno.ENOSYS)
    return True


def _opens_socket(family: int, kind: int) -> bool:
    socket.socket(family, kind).close()
    return True


def _read_system_file(surroundings: Surroundings) -> bool:
    path = Path("/etc/passwd")
    return surroundings.outside(path) and bool(path.read_bytes())


def _read_home(surroundings: Surroundings) -> bool:
    if surroundings.home is None or not surroundings.outside(surroundings.home):
        return False
    next(surroundings.home.iterdir(), None)
    return True


def _read_parent_environment(surroundings: Surroundings) -> bool:
    Path(f"/proc/{os.getppid()}/environ").read_bytes()
    return True


def _read_mounts(surroundings: Surroundings) -> bool:
    return bool(Path("/proc/self/mountinfo").read_bytes())


def _read_network(surroundings: Surroundings) -> bool:
    return bool(Path("/proc/self/net/dev").read_bytes())


def _write_outside(surroundings: Surroundings) -> bool:
    for directory in (surroundings.scratch.parent, surroundings.home, Path("/tmp"), Path("/dev/shm")):
        if directory is None or directory.is_relative_to(surroundings.scratch):
            continue
        target = directory / f".blendwright-selftest-{os.getpid()}"
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            continue
        target.unlink()
        return True
    return False


def _fork(surroundings: Surroundings) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _connect_tcp(surroundings: Surroundings) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        return connection.connect_ex(("127.0.0.1", _DISCARD_PORT)) not in (errno.EPERM, errno.EACCES)


def _signal_parent(surroundings: Surroundings) -> bool:
    os.kill(os.getppid(), 0)
    return True


def _change_mode(surroundings: Surroundings) -> bool:
    target = surroundings.scratch / f".blendwright-selftest-{os.getpid()}"
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        target.chmod(0o640)
        return stat.S_IMODE(target.stat().st_mode) != 0o600
    finally:
        target.unlink()


ACTS: dict[str, Act] = {
    "read_system_file": _read_system_file,
    "read_home": _read_home,
    "read_parent_environment": _read_parent_environment,
    "read_mounts": _read_mounts,
    "read_network": _read_network,
    "write_outside": _write_outside,
    "fork": _fork,
    "execute": lambda _: _reaches_kernel("execve", ctypes.c_char_p(b""), None, None),
    "connect_tcp": _connect_tcp,
    "open_udp_socket": lambda _: _opens_socket(socket.AF_INET, socket.SOCK_DGRAM),
    "open_unix_socket": lambda _: _opens_socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "signal_parent": _signal_parent,
    "trace": lambda _: _reaches_kernel("ptrace", ctypes.c_long(_PTRACE_ATTACH), ctypes.c_long(0), None, None),
    "use_io_uring": lambda _: _reaches_kernel("io_uring_setup", ctypes.c_uint(0), None),
    "make_file_in_memory": lambda _: _reaches_kernel("memfd_create", None, ctypes.c_uint(0)),
    "leave_namespace": lambda _: _reaches_kernel("unshare", ctypes.c_int(0)),
    "change_mode": _change_mode,
}


# Acts that only Landlock refuses.
ON_FILES = ("read_system_file", "read_home", "read_parent_environment", "read_mounts", "read_network", "write_outside")


def acts_not_refused(surroundings: Surroundings, names: Collection[str] = ACTS.keys()) -> tuple[str, ...]:
    """Return the names of the acts that succeeded, in the order of `ACTS`. Try only acts in `names`."""
    not_refused: list[str] = []
    for name, act in ACTS.items():
        if name in names and _succeeds(act, surroundings):
            not_refused.append(name)
    return tuple(not_refused)


def _succeeds(act: Act, surroundings: Surroundings) -> bool:
    try:
        return act(surroundings)
    except OSError:
        return False
