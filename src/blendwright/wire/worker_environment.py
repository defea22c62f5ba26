"""The environment variables of a worker: those that Blender needs, and private directories for its files.

The core builds the environment when it starts a worker, and the worker creates the directories when it confines itself.
The core starts from an empty environment and does not filter the user's, so no secret with an unknown name gets through.
"""

import os
import site
import sys
from pathlib import Path

# The variable with Python files, joined as in PATH, whose TOOLS or METHODS a worker gets in addition to its own. The core never
# sets it, and a worker does not inherit the user's environment. Only code that starts a worker, such as a test, can set it.
EXTENSIONS = "BLENDWRIGHT_WORKER_EXTENSIONS"

# The file in the scratch directory with the standard output and error of the worker and its Blender.
LOG_NAME = "worker.log"

# The file in the cache directory of a worker with shaders for its first picture. It exists only if the core has shaders.
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
    """Return all variables of a worker. They replace the environment of the core process."""
    scratch = scratch.absolute()
    home, temporary = scratch / _HOME, scratch / _TEMPORARY
    environment = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        # Times in files must not depend on the time zone of the machine, and a worker cannot read /etc/localtime.
        "TZ": "UTC",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache_directory(scratch)),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_RUNTIME_DIR": str(scratch / _RUNTIME),
        "TMPDIR": str(temporary),
        # On systems that do not use HOME for it, Blender would otherwise install add-ons into the user's profile.
        "BLENDER_USER_RESOURCES": str(scratch / _PROFILE),
        # Large memory pages for Blender, if the C library supports them. A step takes 10 % less time.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        # Pydantic would otherwise search every installed package for plugins to run.
        "PYDANTIC_DISABLE_PLUGINS": "__all__",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        # The working directory must not provide modules.
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }
    if site.ENABLE_USER_SITE:
        # A private HOME would hide the packages in the user's site directory, which may include Blendwright.
        environment["PYTHONUSERBASE"] = site.getuserbase()
    if sys.platform == "win32":
        environment |= {"TEMP": str(temporary), "TMP": str(temporary), "USERPROFILE": str(home)}
        environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "WINDIR") if name in os.environ}
    return environment
