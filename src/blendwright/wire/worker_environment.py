"""The environment a worker starts with: what Blender needs, private places for what it writes, nothing of the user's.

The core builds it when it starts a worker, and the worker makes the directories when it confines itself. It is built
from nothing, never by removing from the user's environment, so that a secret with an unknown name cannot slip through.
"""

import os
import site
import sys
from pathlib import Path

# Names Python files, joined as in PATH, with TOOLS or METHODS that a worker has besides its own. The core sets it nowhere, and a
# worker does not inherit the environment of its user: it is there only where whoever starts the worker says so, as tests do.
EXTENSIONS = "BLENDWRIGHT_WORKER_EXTENSIONS"

# In the scratch: what the worker, and Blender in it, write to standard output and error.
LOG_NAME = "worker.log"

# In the cache directory of a worker: shaders for its first picture, where the core has some.
SHADERS = "blendwright/shaders.tar"

_HOME = "home"
_TEMPORARY = "tmp"
_RUNTIME = "run"
_PROFILE = "blender"


def private_directories(scratch: Path) -> tuple[Path, ...]:
    """Return the directories inside the scratch that the environment names."""
    return tuple(scratch / name for name in (_HOME, _TEMPORARY, _RUNTIME, _PROFILE))


def cache_directory(scratch: Path) -> Path:
    return scratch / _HOME / ".cache"


def private_environment(scratch: Path) -> dict[str, str]:
    """Return all variables of a worker. The parent passes them instead of its own."""
    scratch = scratch.absolute()
    home, temporary = scratch / _HOME, scratch / _TEMPORARY
    environment = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        # Times in files must not depend on where the machine stands, and /etc/localtime is out of reach.
        "TZ": "UTC",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache_directory(scratch)),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_RUNTIME_DIR": str(scratch / _RUNTIME),
        "TMPDIR": str(temporary),
        # Where HOME does not decide it, Blender would install add-ons into the user's own profile.
        "BLENDER_USER_RESOURCES": str(scratch / _PROFILE),
        # Large pages for what Blender allocates, where the C library knows how: a step takes a tenth less time.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        # Looks through every package that is installed, for code to run.
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        # The directory the command was called in must not provide modules.
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    if site.ENABLE_USER_SITE:
        # A private HOME would hide packages that the user installed for themselves, us among them.
        environment["PYTHONUSERBASE"] = site.getuserbase()
    if sys.platform == "win32":
        environment |= {"TEMP": str(temporary), "TMP": str(temporary), "USERPROFILE": str(home)}
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if name in os.environ}
    return environment
