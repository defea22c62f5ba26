"""Which files a confined worker may read: what Python and Blender need to run, and nothing of the user's.

No path here may be a home directory, /etc, /proc, /tmp or another place where secrets lie.
"""

import importlib.util
import site
import sys
from pathlib import Path

import blendwright

# The CPU lists are read by numpy, TBB and Cycles to choose how many threads they start.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node"),
)

# To start a program the kernel also runs the dynamic linker, or the interpreter of a script.
PROGRAMS = tuple(map(Path, ("/usr", "/lib", "/lib64", "/bin")))

DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))


def needed_to_run() -> tuple[Path, ...]:
    """Directories and files to read, in no particular order; some may not exist on this machine."""
    python = [Path(sys.prefix), Path(sys.base_prefix)]
    if site.ENABLE_USER_SITE:
        python.append(Path(site.getusersitepackages()))
    # The package itself is elsewhere when it is installed from a source tree.
    return (*map(Path, _SYSTEM), *python, *map(Path, blendwright.__path__), *_places_of("bpy"))


def _places_of(module: str) -> tuple[Path, ...]:
    """Where a module would be loaded from, without loading it."""
    spec = importlib.util.find_spec(module)
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(map(Path, spec.submodule_search_locations))
    return (Path(spec.origin).parent,) if spec.has_location and spec.origin else ()
