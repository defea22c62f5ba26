"""Confinement on Linux: the layers in their order, and an honest account of which of them hold."""

import os
import pwd
from collections.abc import Sequence
from pathlib import Path

from blendwright.blender.confinement import landlock, limits, paths, seccomp, selftest
from blendwright.blender.confinement.report import Confinement, File, Resources
from blendwright.blender.confinement.syscalls import Architecture


def confine_linux(
    architecture: Architecture,
    scratch: Path,
    readable: Sequence[Path],
    files: Sequence[File],
    resources: Resources,
    home: Path | None = None,
) -> Confinement:
    """Apply every layer that the kernel offers, then try to break out."""
    missing: list[str] = []
    may_read = _may_read(readable)
    surroundings = selftest.Surroundings(scratch, (*may_read, *(path for path, _ in files)), home or home_of_user())

    # Landlock holds for the thread that asks for it and for threads it starts later, not for those that run already.
    # Where files are out of reach before we ask, a launcher has seen to it: every thread descends from what it restricted.
    threads = sum(1 for _ in Path("/proc/self/task").iterdir())
    if threads > 1 and selftest.acts_not_refused(surroundings, selftest.ON_FILES):
        missing.append(f"{threads - 1} threads were running before confinement and keep their access to files")

    limited = _limit(resources, missing)
    version = _restrict_files(scratch, may_read, files, missing)
    # Last, because the filter refuses the calls that the other layers are made of.
    filtered = _filter_calls(architecture, missing)

    not_refused = selftest.acts_not_refused(surroundings)
    if not_refused:
        missing.append("the self-test got through with " + ", ".join(not_refused))
    level = "full" if not missing else "partial" if version or filtered else "none"
    return Confinement(level, version, filtered, limited, not_refused, "; ".join(missing) or None)


def before_exec(
    scratch: Path, executable: Path, readable: Sequence[Path], files: Sequence[File], resources: Resources
) -> None:
    """Restrict this process to what `executable`, the program it is about to become, needs. The filter of calls cannot come
    yet: it would refuse the exec itself.
    """
    missing: list[str] = []
    may_run = (executable.resolve().parent, *paths.PROGRAMS)
    _limit(resources, missing)
    _restrict_files(scratch, _may_read(readable), files, missing, may_run)


def _may_read(readable: Sequence[Path]) -> tuple[Path, ...]:
    return tuple(path.resolve() for path in (*paths.needed_to_run(), *readable))


def _limit(resources: Resources, missing: list[str]) -> bool:
    try:
        limits.forbid_new_privileges()
        limits.limit_resources(resources)
    except (OSError, ValueError) as error:
        missing.append(f"resource limits: {error}")
        return False
    return True


def _restrict_files(
    scratch: Path, may_read: Sequence[Path], files: Sequence[File], missing: list[str], may_run: Sequence[Path] = ()
) -> int:
    rules = [(path, landlock.READ) for path in may_read]
    rules += [(path, landlock.RUN) for path in may_run]
    rules += [(path, landlock.DEVICE) for path in paths.DEVICES]
    rules.append((scratch, landlock.WRITE))
    try:
        version = landlock.abi()
        if version:
            landlock.restrict(version, rules, files)
    except OSError as error:
        missing.append(f"Landlock: {error}")
        return 0
    if not version:
        missing.append("this kernel has no Landlock (Linux 5.13 or later, with `landlock` among its security modules)")
    elif version < landlock.COMPLETE_ABI:
        missing.append(f"Landlock ABI {version} lets readable files be truncated (Linux 6.2 or later does not)")
    return version


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
