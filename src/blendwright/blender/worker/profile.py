"""A description of this process's Blender for the handshake. It only reads, and changes nothing in the scene."""

import dataclasses
import importlib
import os
import platform
import re
from pathlib import Path
from typing import Any

from blendwright.blender.confinement import Confinement
from blendwright.wire.blender_profile import WorkerProfile


def describe(confinement: Confinement) -> WorkerProfile:
    """Return the profile of this worker."""
    bpy: Any = importlib.import_module("bpy")
    major, minor, patch = bpy.app.version
    version = (int(major), int(minor), int(patch))
    # Blender 5.0 raised the limit of datablock names from 63 to 255 bytes.
    name_bytes = 63
    if version >= (5, 0, 0):
        name_bytes = 255
    return WorkerProfile(
        version=version,
        version_string=bpy.app.version_string,
        build_hash=bpy.app.build_hash.decode("ascii", "replace"),
        platform=f"{platform.system()}-{platform.machine()}".lower(),
        background=bool(bpy.app.background),
        engines=_engines(bpy),
        features=_features(version),
        name_bytes=name_bytes,
        confinement=dataclasses.asdict(confinement),
        python=platform.python_version(),
        pid=os.getpid(),
        memory_mb=_resident_mb(),
    )


def _features(version: tuple[int, int, int]) -> dict[str, bool]:
    return {
        # Undo without a user interface is tested on 4.5 and 5.0, not on 4.2.
        "memfile_undo": version >= (4, 5, 0),
        "evaluated_geometry": version >= (4, 5, 0),
        "node_warnings": version >= (4, 5, 0),
        "system_properties": version >= (5, 0, 0),
    }


def _engines(bpy: Any) -> tuple[str, ...]:
    """Return the render engines by identifier, sorted.

    The enum is dynamic and its RNA lists only the first item (seen on 5.0). Only the error for an invalid value names all engines,
    including engines of add-ons, and it changes nothing.
    """
    try:
        bpy.data.scenes[0].render.engine = ""
    except TypeError as error:
        _, _, engine_names = str(error).partition(" not found in ")
        return tuple(sorted(re.findall(r"'([^']+)'", engine_names)))
    return ()


def _resident_mb() -> float | None:
    """Return the resident memory in megabytes; None on systems without /proc."""
    # The peak of getrusage would include the process that forked this one.
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
