"""The cache of compiled shaders, unpacked into the directory of the graphics driver before this process renders its first picture."""

import contextlib
import os
import tarfile
from functools import cache
from pathlib import Path

from blendwright.wire.worker_environment import SHADERS


@cache
def unpack() -> None:
    """Unpack the shader archive below `XDG_CACHE_HOME`, once per process.

    A missing or broken archive is ignored: the first picture then takes longer, with the same result."""
    directory = os.environ.get("XDG_CACHE_HOME")
    if not directory:
        return

    archive = Path(directory) / SHADERS
    if archive.is_file():
        with contextlib.suppress(OSError, tarfile.TarError), tarfile.open(archive) as packed:
            packed.extractall(archive.parents[1], filter="data")
