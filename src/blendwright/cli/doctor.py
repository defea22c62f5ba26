"""blendwright doctor: what works here, what is missing and how to get it."""

from __future__ import annotations

import ctypes
import platform
import sys
import tempfile
from typing import Annotated, Any

import typer
from rich.text import Text

import blendwright
from blendwright.bridge.exit_diagnosis import LIBRARIES
from blendwright.cli.host_checks import host_checks
from blendwright.cli.output import AsJson, Blender, Columns, Exit, console, print_json
from blendwright.tools import catalog
from blendwright.values.errors import EnvironmentUnfit
from blendwright.wire.profiles import BlenderProfile

Check = dict[str, Any]
NO_BLENDER = "Give --blender the path of a Blender executable, or leave it out to use bpy."


def doctor(
    blender: Blender = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Also check the set-up of this language-model host.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Check that Blendwright can work here; says what is missing and how to get it."""
    checks = [_python(), *([] if blender else _libraries()), *_blender(blender), _catalogue()]
    checks += [] if host is None else host_checks(host)
    fit = all(check["ok"] or not check["required"] for check in checks)
    if json:
        print_json({"ok": fit, "checks": checks})
    else:
        _show(checks, fit)
    return Exit.DONE if fit else Exit.UNFIT


def _check(name: str, ok: bool, found: str, cure: str | None = None, *, required: bool = True) -> Check:
    return {"name": name, "ok": ok, "required": required, "found": found, "cure": None if ok else cure}


def _python() -> Check:
    ok = sys.version_info[:2] == (3, 11)
    return _check("python", ok, platform.python_version(), "Use Python 3.11: the bpy wheels are made for it.")


def _libraries() -> list[Check]:
    """The system libraries that Blender loads; only Linux leaves them to the user."""
    if sys.platform != "linux":
        return []
    missing = [(library, package) for library, package in LIBRARIES.items() if not _loads(library)]
    packages = " ".join(package for _, package in missing)
    found = "missing: " + ", ".join(library for library, _ in missing) if missing else f"all {len(LIBRARIES)} are there"
    return [_check("system libraries", not missing, found, f"apt-get install {packages}")]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _blender(path: str | None) -> list[Check]:
    with tempfile.TemporaryDirectory() as place:
        try:
            with blendwright.open(place, blender=path, spare=False) as scene:
                profile = scene.blender
        except EnvironmentUnfit as error:
            return [
                _check(
                    "blender",
                    False,
                    error.message,
                    error.cure or "Give --blender the path of a Blender executable, or leave it out to use bpy.",
                )
            ]
    return [
        _check("blender", True, f"{profile.version_string} ({profile.build_hash}), {profile.memory_mb or 0:.0f} MB idle"),
        _check("render engines", bool(profile.engines), ", ".join(profile.engines), "Use a Blender with render engines."),
        _confinement(profile),
        _check("undo tier", profile.features.get("memfile_undo", False), "Blender's own undo works headless"
               if profile.features.get("memfile_undo") else "off on this Blender: such steps are rebuilt instead",
               "Use Blender 4.5 or newer.", required=False),
    ]  # fmt: skip


def _confinement(profile: BlenderProfile) -> Check:
    level = profile.confinement["level"]
    found = f"{level} (Landlock {profile.confinement['landlock_abi']}, seccomp {'on' if profile.confinement['seccomp'] else 'off'})"
    reason = profile.confinement.get("reason") or "not available here"
    cure = f"{reason}. Tools work; Python steps in safe mode will be refused."
    return _check("confinement", level == "full", found, cure, required=False)


def _catalogue() -> Check:
    return _check("tools", True, f"{len(catalog.tools())} ({catalog.fingerprint()[:12]})")


def _show(checks: list[Check], fit: bool) -> None:
    out = console()
    table = Columns()
    for check in checks:
        word, style = (
            ("ok", "green") if check["ok"] else ("missing", "red") if check["required"] else ("note", "yellow")
        )
        table.row(Text(word, style=style), Text(check["name"], style="bold"), Text(check["found"]))
        if check["cure"]:
            table.row("", "", Text(check["cure"]))
    out.print(table)
    out.print(Text("ready" if fit else "not ready: see what is missing above"))
