"""Checks of the environment: whether Blendwright can work here, what is missing, and how to get it."""

from __future__ import annotations

import ctypes
import platform
import sys
import tempfile
from dataclasses import dataclass

from blendwright.app.opening import open
from blendwright.bridge.exit_diagnosis import LIBRARIES
from blendwright.tools import catalog
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire.blender_profile import BlenderProfile

NO_BLENDER = "Give --blender the path of a Blender executable, or leave it out to use bpy."


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked. What is not `required` may be missing."""

    name: str
    ok: bool
    found: str
    cure: str | None = None
    required: bool = True

    def to_json(self) -> dict[str, str | bool | None]:
        cure = None if self.ok else self.cure
        return {"name": self.name, "ok": self.ok, "required": self.required, "found": self.found, "cure": cure}


def check_environment(blender: str | None = None) -> list[Check]:
    """Python, the libraries of the system, Blender (the executable, or bpy), and the tools."""
    return [_python(), *([] if blender else _libraries()), *_blender(blender), _tools()]


def _python() -> Check:
    ok = sys.version_info[:2] == (3, 11)
    return Check("python", ok, platform.python_version(), "Use Python 3.11: the bpy wheels are made for it.")


def _libraries() -> list[Check]:
    """The system libraries that Blender loads; only Linux leaves them to the user."""
    if sys.platform != "linux":
        return []
    missing = {library: package for library, package in LIBRARIES.items() if not _loads(library)}
    state = f"missing: {', '.join(missing)}" if missing else f"all {len(LIBRARIES)} are there"
    return [Check("system libraries", not missing, state, f"apt-get install {' '.join(missing.values())}")]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _blender(path: str | None) -> list[Check]:
    with tempfile.TemporaryDirectory() as directory:
        try:
            with open(directory, blender=path, spare=False) as scene:
                profile = scene.blender
        except EnvironmentUnfit as error:
            return [Check("blender", False, error.message, error.cure or NO_BLENDER)]
    undo = profile.features.get("memfile_undo", False)
    undo_state = "Blender's own undo works headless" if undo else "off on this Blender: such steps are rebuilt instead"
    version = f"{profile.version_string} ({profile.build_hash}), {profile.memory_mb or 0:.0f} MB idle"
    engines = ", ".join(profile.engines)
    return [
        Check("blender", True, version),
        Check("render engines", bool(profile.engines), engines, "Use a Blender with render engines."),
        _confinement(profile),
        Check("undo tier", undo, undo_state, "Use Blender 4.5 or newer.", required=False),
    ]


def _confinement(profile: BlenderProfile) -> Check:
    confinement = profile.confinement
    seccomp = "on" if confinement["seccomp"] else "off"
    state = f"{confinement['level']} (Landlock {confinement['landlock_abi']}, seccomp {seccomp})"
    reason = confinement.get("reason") or "not available here"
    cure = f"{reason}. Tools work; Python steps in safe mode will be refused."
    return Check("confinement", confinement["level"] == "full", state, cure, required=False)


def _tools() -> Check:
    return Check("tools", True, f"{len(catalog.tools())} ({catalog.fingerprint()[:12]})")
