"""Confinement on Linux: the layers in their order, and an account of the layers that hold. The core limits time by killing the worker."""

import contextlib
import ctypes
import importlib.util
import os
import pwd
import resource
import site
import sys
from collections.abc import Sequence
from pathlib import Path

import blendwright
from blendwright.blender.confinement import landlock, seccomp, selftest
from blendwright.blender.confinement.report import Allowance, Confinement
from blendwright.blender.confinement.syscalls import Architecture

_PR_SET_NO_NEW_PRIVS = 38
_MAX_OPEN_FILES = 1024

# Paths that Python and Blender need to run. They contain no data of the user: no home directory, /etc, /proc, /tmp or other
# location of secrets. numpy, TBB and Cycles read the CPU lists to choose their number of threads.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),
)
# Files that the process may read about itself. The C library reads its stack, numpy and Blender 5.2 their figures, the worker its
# memory. The directory itself is not included, because it shows the machine's network, mounts and control groups.
_ITSELF = tuple(Path("/proc/self") / name for name in ("maps", "stat", "statm", "status"))

# Directories with programs. To start one, the kernel also runs the dynamic linker, or the interpreter of a script.
_PROGRAMS = tuple(map(Path, ("/usr", "/lib", "/lib64", "/bin")))

_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))


def confine_linux(architecture: Architecture, allowance: Allowance) -> Confinement:
    """Apply every layer that the kernel offers, then try forbidden acts."""
    missing: list[str] = []
    allowed = (*_may_read(allowance), *(path for path, _ in allowance.files))
    surroundings = selftest.Surroundings(allowance.scratch.resolve(), allowed, allowance.home or home_of_user())

    # Landlock applies to the calling thread and to threads that it starts later, not to other running threads.
    # If files are already unreachable, a launcher restricted the process, and every thread descends from it.
    threads = Path("/proc/self/task").stat().st_nlink - 2  # a launcher makes listing the directory impossible
    if threads > 1 and selftest.acts_not_refused(surroundings, selftest.ON_FILES):
        missing.append(f"{threads - 1} threads started before confinement and keep their access to files")

    limited = _limit(allowance, missing)
    version = _restrict_files(allowance, missing)
    # Install the filter last, because it refuses the calls that the other layers need.
    filtered = _filter_calls(architecture, missing)

    not_refused = selftest.acts_not_refused(surroundings)
    if not_refused:
        missing.append("the self-test found acts that were not refused: " + ", ".join(not_refused))
    if not missing:
        level = "full"
    elif version or filtered:
        level = "partial"
    else:
        level = "none"
    return Confinement(level, version, filtered, limited, not_refused, "; ".join(missing) or None)


def before_exec(allowance: Allowance, executable: Path) -> None:
    """Restrict this process to the needs of `executable`, the program that it is about to become.

    The filter of calls must come later, because it would refuse the exec itself.
    """
    missing: list[str] = []
    _limit(allowance, missing)
    _restrict_files(allowance, missing, may_run=(executable.resolve().parent, *_PROGRAMS))


def _may_read(allowance: Allowance) -> tuple[Path, ...]:
    """Return the paths that the worker may read."""
    return tuple(path.resolve() for path in (*_needed_to_run(), *allowance.readable))


def _needed_to_run() -> tuple[Path, ...]:
    """Return directories and files that Python and Blender read. Some may not exist on this machine."""
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    if site.ENABLE_USER_SITE:
        python.append(Path(site.getusersitepackages()))
    # A package installed from a source tree is in another directory.
    return (*map(Path, _SYSTEM), *_ITSELF, *python, *map(Path, blendwright.__path__), *_directories_of("bpy"))


def _directories_of(module: str) -> tuple[Path, ...]:
    """Return the directories of a module without importing it."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(map(Path, spec.submodule_search_locations))
    if spec.has_location and spec.origin:
        return (Path(spec.origin).parent,)
    return ()


def _limit(allowance: Allowance, missing: list[str]) -> bool:
    """Set no_new_privs and the resource limits. On failure, append the reason to `missing` and return False."""
    try:
        forbid_new_privileges()
        limit_resources(allowance)
    except (OSError, ValueError) as error:
        missing.append(f"resource limits: {error}")
        return False
    return True


def forbid_new_privileges() -> None:
    """Set no_new_privs. Landlock and seccomp require it except from root, and it makes setuid programs ineffective."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"prctl {option}")


def limit_resources(allowance: Allowance) -> None:
    """Lower the limits permanently. A limit that is already lower stays."""
    for kind, requested in (
        (resource.RLIMIT_AS, allowance.address_space),
        (resource.RLIMIT_FSIZE, allowance.file_size),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            limit = requested
        else:
            limit = min(requested, hard)
        resource.setrlimit(kind, (limit, limit))


def _restrict_files(allowance: Allowance, missing: list[str], may_run: Sequence[Path] = ()) -> int:
    """Apply Landlock and return its version; 0 if it failed. Append each deficiency to `missing`."""
    _pin(_ITSELF)
    rules = [(path, landlock.READ) for path in _may_read(allowance)]
    rules += [(path, landlock.RUN) for path in may_run]
    rules += [(path, landlock.DEVICE) for path in _DEVICES]
    rules.append((allowance.scratch.resolve(), landlock.WRITE))
    try:
        version = landlock.abi()
        if version:
            landlock.restrict(version, rules, allowance.files)
    except OSError as error:
        missing.append(f"Landlock: {error}")
        return 0
    if not version:
        missing.append("this kernel has no Landlock (Linux 5.13 or later, with `landlock` among its security modules)")
    elif version < landlock.COMPLETE_ABI:
        missing.append(f"Landlock ABI {version} lets readable files be truncated (Linux 6.2 or later does not)")
    return version


def _pin(files: Sequence[Path]) -> None:
    """Keep files of /proc open for the life of the process, also over exec.

    A rule applies to an inode. The kernel drops an inode that no process holds, and the next lookup creates another without a rule.
    """
    for path in files:
        with contextlib.suppress(OSError):
            os.set_inheritable(os.open(path, os.O_PATH), True)


def _filter_calls(architecture: Architecture, missing: list[str]) -> bool:
    """Install the seccomp filter. On failure, append the reason to `missing` and return False."""
    try:
        seccomp.install(architecture)
    except OSError as error:
        missing.append(f"seccomp: {error}")
        return False
    return True


def home_of_user() -> Path | None:
    """Return the user's home directory from the user database, independent of HOME; None without an entry."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    except KeyError:
        return None
