"""Confinement on Linux: the layers in their order, and an honest account of which of them hold. Time is the core's to limit, by killing."""

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
_OPEN_FILES = 1024

# What Python and Blender need to run, and nothing of the user's: no home directory, /etc, /proc, /tmp or another place where
# secrets lie. The CPU lists are read by numpy, TBB and Cycles to choose how many threads they start.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),
)
# What the process may read about itself: the C library looks up its own stack, numpy and Blender 5.2 their own figures, and we our
# memory. Not the directory: the network, the mounts and the control groups of the whole machine are in it too.
_ITSELF = tuple(Path("/proc/self") / name for name in ("maps", "stat", "statm", "status"))

# To start a program the kernel also runs the dynamic linker, or the interpreter of a script.
_PROGRAMS = tuple(map(Path, ("/usr", "/lib", "/lib64", "/bin")))

_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))


def confine_linux(architecture: Architecture, allowance: Allowance) -> Confinement:
    """Apply every layer that the kernel offers, then try to break out."""
    missing: list[str] = []
    allowed = (*_may_read(allowance), *(path for path, _ in allowance.files))
    surroundings = selftest.Surroundings(allowance.scratch.resolve(), allowed, allowance.home or home_of_user())

    # Landlock holds for the thread that asks for it and for threads it starts later, not for those that run already.
    # Where files are out of reach before we ask, a launcher has seen to it: every thread descends from what it restricted.
    threads = Path("/proc/self/task").stat().st_nlink - 2  # not a listing, which a launcher has put out of reach
    if threads > 1 and selftest.acts_not_refused(surroundings, selftest.ON_FILES):
        missing.append(f"{threads - 1} threads were running before confinement and keep their access to files")

    limited = _limit(allowance, missing)
    version = _restrict_files(allowance, missing)
    # Last, because the filter refuses the calls that the other layers are made of.
    filtered = _filter_calls(architecture, missing)

    not_refused = selftest.acts_not_refused(surroundings)
    if not_refused:
        missing.append("the self-test got through with " + ", ".join(not_refused))
    if not missing:
        level = "full"
    elif version or filtered:
        level = "partial"
    else:
        level = "none"
    return Confinement(level, version, filtered, limited, not_refused, "; ".join(missing) or None)


def before_exec(allowance: Allowance, executable: Path) -> None:
    """Restrict this process to what `executable`, the program it is about to become, needs. The filter of calls cannot come
    yet: it would refuse the exec itself.
    """
    missing: list[str] = []
    _limit(allowance, missing)
    _restrict_files(allowance, missing, may_run=(executable.resolve().parent, *_PROGRAMS))


def _may_read(allowance: Allowance) -> tuple[Path, ...]:
    return tuple(path.resolve() for path in (*_needed_to_run(), *allowance.readable))


def _needed_to_run() -> tuple[Path, ...]:
    """Directories and files to read; some may not exist on this machine."""
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    if site.ENABLE_USER_SITE:
        python.append(Path(site.getusersitepackages()))
    # The package itself is elsewhere when it is installed from a source tree.
    return (*map(Path, _SYSTEM), *_ITSELF, *python, *map(Path, blendwright.__path__), *_places_of("bpy"))


def _places_of(module: str) -> tuple[Path, ...]:
    """Where a module would be loaded from, without loading it."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(map(Path, spec.submodule_search_locations))
    if spec.has_location and spec.origin:
        return (Path(spec.origin).parent,)
    return ()


def _limit(allowance: Allowance, missing: list[str]) -> bool:
    try:
        forbid_new_privileges()
        limit_resources(allowance)
    except (OSError, ValueError) as error:
        missing.append(f"resource limits: {error}")
        return False
    return True


def forbid_new_privileges() -> None:
    """Landlock and seccomp ask for this of everyone but root; with it no setuid program helps either."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"prctl {option}")


def limit_resources(allowance: Allowance) -> None:
    """Lower the limits for good; one that is already lower stays as it is."""
    for kind, requested in (
        (resource.RLIMIT_AS, allowance.address_space),
        (resource.RLIMIT_FSIZE, allowance.file_size),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            limit = requested
        else:
            limit = min(requested, hard)
        resource.setrlimit(kind, (limit, limit))


def _restrict_files(allowance: Allowance, missing: list[str], may_run: Sequence[Path] = ()) -> int:
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
    """Keep files of /proc as they are for the life of the process, over exec too: a rule is for an inode, and once the kernel has
    forgotten one that nobody holds, the next lookup makes another, which no rule allows."""
    for path in files:
        with contextlib.suppress(OSError):
            os.set_inheritable(os.open(path, os.O_PATH), True)


def _filter_calls(architecture: Architecture, missing: list[str]) -> bool:
    try:
        seccomp.install(architecture)
    except OSError as error:
        missing.append(f"seccomp: {error}")
        return False
    return True


def home_of_user() -> Path | None:
    """The home directory of the user, whatever HOME says; a user without an entry has none."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
    except KeyError:
        return None
