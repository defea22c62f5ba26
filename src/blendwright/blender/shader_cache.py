"""Shaders that were compiled before: unpacked where the graphics driver looks for them, before the first picture of this process."""

import contextlib
import os
import tarfile
from functools import cache
from pathlib import Path

from blendwright.wire.worker_environment import SHADERS


@cache
def unpack() -> None:
    """Once; without them a picture takes longer, and nothing else is different."""
    directory = os.environ.get("XDG_CACHE_HOME")
    if directory:
        file = Path(directory) / SHADERS
    else:
        file = None
    if file is not None and file.is_file():
        with contextlib.suppress(OSError, tarfile.TarError), tarfile.open(file) as packed:
            packed.extractall(file.parents[1], filter="data")
