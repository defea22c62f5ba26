"""What stands in the way here: checks of the environment and of a language-model host, and how to cure what is missing."""

from __future__ import annotations

import contextlib
import ctypes
import json
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.bridge.exit_diagnosis import LIBRARIES
from blendwright.bridge.sources import worker_source
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.setup.blenders import OWN, list_blenders
from blendwright.setup.hosts import Host, host_named, installed
from blendwright.tools import catalog
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit
from blendwright.wire.blender_profile import BlenderProfile
from blendwright.workspace.locations import home_directory
from blendwright.workspace.opening import open
from blendwright.workspace.scene_hosts import window_capability

NO_BLENDER = "`blendwright blender list` shows those that are here, and those that can be added."
OLDEST_PYTHON = (3, 11)
SECONDS = 120.0
# Of what a server prints before it ends, the end tells why.
LONGEST_TAIL = 300


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
    """Python, the libraries of the system, Blender (the one that is named, or taken otherwise), the other Blenders, and the tools."""
    tools = Check("tools", True, f"{len(catalog.tools())} ({catalog.fingerprint()[:12]})")
    return [_python(), *_libraries(blender), *_blender(blender), *_other_blenders(), _windows(), tools]


def _python() -> Check:
    """The core's own Python; that of a Blender is the worker's affair."""
    ok = sys.version_info[:2] >= OLDEST_PYTHON
    cure = f"Use Python {'.'.join(map(str, OLDEST_PYTHON))} or newer."
    return Check("python", ok, platform.python_version(), cure)


def _windows() -> Check:
    """The Blenders that people have open and that offer a connection; none is needed."""
    try:
        capability = window_capability()
        windows = () if capability is None else capability.open_windows()
    except EnvironmentUnfit as error:
        return Check("open windows", False, error.message, error.cure, required=False)
    found = "; ".join(window.name for window in windows)
    return Check("open windows", True, found or "none that is connected", required=False)


def _other_blenders() -> list[Check]:
    """Those that were added, each by itself where something is wrong with it, and those that can be."""
    listed = [row for row in list_blenders() if row.name != OWN]
    ready = [f"{row.name} ({row.blender} on Python {row.python})" for row in listed if row.standing == "ready"]
    others = [row.name for row in listed if row.standing == "not added"]
    missing = sorted({row.python for row in listed if row.standing == "no python"})
    found = "; ".join(
        [
            f"added: {', '.join(ready) or 'none'}",
            *([f"can be added: {', '.join(others)}"] if others else []),
            *([f"no Python {' or '.join(missing)} here for the rest"] if missing else []),
        ]
    )
    wrong = [row for row in listed if row.standing in ("broken", "outdated")]
    return [
        Check("other blenders", True, found, required=False),
        *(Check(f"blender {row.name}", False, row.standing, row.cure, required=False) for row in wrong),
    ]


def _libraries(blender: str | None) -> list[Check]:
    """The system libraries that the wheel loads; only Linux leaves them to the user."""
    if sys.platform != "linux" or (blender is not None and isinstance(worker_source(blender), BlenderExecutable)):
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


def check_host(name: str) -> list[Check]:
    """What stands between a host and our server, in the order in which the host would meet it."""
    host = host_named(name)
    cure = f"blendwright init-host {name}"
    entry: dict[str, Any] | None = None
    files: list[str] = []
    for scope in ("project", "user"):
        try:
            file = host.file(scope, home=home_directory(), project=Path.cwd())
            files.append(str(file))
            entry = entry or installed(host, file)
        except BlendwrightError as error:
            if Path(files[-1] if files else "").is_file():
                return [Check(f"{host.title} configuration", False, error.message, error.cure)]
    if entry is None:
        return [Check(f"{host.title} configuration", False, f"no entry in {' or '.join(files)}", cure)]
    checks = [Check(f"{host.title} configuration", True, str(entry.get("command")))]
    command = shutil.which(str(entry.get("command", "")))
    if command is None:
        return [*checks, Check("server command", False, f"{entry.get('command')} cannot be run", f"{cure} --replace")]
    return [*checks, _starts(host, [command, *map(str, entry.get("args", ()))])]


def _starts(host: Host, command: list[str]) -> Check:
    """Start it as the host would, on a workspace of its own, ask for its tools, and see that it goes on from there.

    What a host asks first is answered from a recording while the server is still being loaded; a ping is answered by the server.
    """
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    cure = f"Run it by hand: {shlex.join(command)}"
    with tempfile.TemporaryDirectory() as directory:
        try:
            answers, ended = _ask([*command, "--workspace", str(Path(directory, "workspace"))], text, last=2)
        except (OSError, ValueError, TypeError) as error:
            return Check("server start", False, f"{type(error).__name__}: {error}"[:200], cure)
    if "result" not in answers.get(2, {}):
        return Check("server start", False, f"it did not answer, and {ended}", cure)
    return Check("server start", True, f"{len(answers[1]['result']['tools'])} tools for {host.title}")


def _ask(command: list[str], text: str, *, last: int) -> tuple[dict[int, dict[str, Any]], str]:
    """Send the text to a server; return its answers up to the id `last`, and how it ended. As with a host, its input stays open."""
    answers: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
        )
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        with process:
            assert process.stdin is not None and process.stdout is not None
            try:
                # Gone before it has read everything: what it printed last tells why.
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(text)
                    process.stdin.flush()
                for line in process.stdout:
                    answer = json.loads(line)
                    answers |= {answer["id"]: answer} if "id" in answer else {}
                    if last in answers:
                        break
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        errors.seek(0)
        tail = " ".join(errors.read().split())[-LONGEST_TAIL:]
    return answers, f"ended with exit code {process.returncode}: {tail or 'it printed nothing'}"
