"""Describes the Blender of this process for the handshake. Reads only; changes nothing in the scene."""

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
    """The profile of this worker."""
    bpy: Any = importlib.import_module("bpy")
    major, minor, patch = bpy.app.version
    version = (int(major), int(minor), int(patch))
    return WorkerProfile(
        version=version,
        version_string=bpy.app.version_string,
        build_hash=bpy.app.build_hash.decode("ascii", "replace"),
        platform=f"{platform.system()}-{platform.machine()}".lower(),
        background=bool(bpy.app.background),
        engines=_engines(bpy),
        features=_features(version),
        # 5.0 raised the limit of datablock names from 63 to 255 bytes.
        name_bytes=255 if version >= (5, 0, 0) else 63,
        confinement=dataclasses.asdict(confinement),
        python=platform.python_version(),
        pid=os.getpid(),
        memory_mb=_resident_mb(),
    )


def _features(version: tuple[int, int, int]) -> dict[str, bool]:
    return {
        # Undo without a user interface is proven on 4.5 and 5.0, not on 4.2.
        "memfile_undo": version >= (4, 5, 0),
        "evaluated_geometry": version >= (4, 5, 0),
        "node_warnings": version >= (4, 5, 0),
        "system_properties": version >= (5, 0, 0),
    }


def _engines(bpy: Any) -> tuple[str, ...]:
    """The render engines by identifier, sorted.

    The enum is dynamic and its RNA lists only the first item (seen on 5.0); the refusal of a wrong value is the one place
    where Blender names them all, those of add-ons included, and it changes nothing.
    """
    try:
        bpy.data.scenes[0].render.engine = ""
    except TypeError as error:
        _, _, listed = str(error).partition(" not found in ")
        return tuple(sorted(re.findall(r"'([^']+)'", listed)))
    return ()


def _resident_mb() -> float | None:
    # Not getrusage: its peak counts the process that forked us as well.
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)
