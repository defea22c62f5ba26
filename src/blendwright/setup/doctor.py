"""The checks of `doctor`: the environment and the configuration of a language-model host, each problem with its fix."""

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

NO_BLENDER = "`blendwright blender list` shows the Blenders that are installed or can be added."
MIN_PYTHON = (3, 11)
# Time limit for the server's answers, in seconds.
SERVER_TIMEOUT_SECONDS = 120.0
# A report quotes the end of the server's error output, because the end contains the reason.
MAX_QUOTED_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. A check that is not `required` may fail without making the machine unfit."""

    name: str
    ok: bool
    found: str
    cure: str | None = None
    required: bool = True

    def to_json(self) -> dict[str, str | bool | None]:
        fix = self.cure
        if self.ok:
            fix = None
        return {"name": self.name, "ok": self.ok, "required": self.required, "found": self.found, "cure": fix}


def check_environment(blender: str | None = None) -> list[Check]:
    """Check Python, the system libraries, Blender, the other Blenders, the open windows and the tools.

    `blender` names the Blender to check; None stands for the default one."""
    tools = Check("tools", True, f"{len(catalog.tools())} ({catalog.fingerprint()[:12]})")
    return [_python(), *_libraries(blender), *_blender(blender), *_other_blenders(), _windows(), tools]


def _python() -> Check:
    """Check the Python that runs Blendwright. A worker process may use another one."""
    ok = sys.version_info[:2] >= MIN_PYTHON
    fix = f"Use Python {'.'.join(map(str, MIN_PYTHON))} or newer."
    return Check("python", ok, platform.python_version(), fix)


def _windows() -> Check:
    """List the open Blender windows that offer a connection. A missing window is not a problem."""
    try:
        capability = window_capability()
        windows = () if capability is None else capability.open_windows()
    except EnvironmentUnfit as error:
        return Check("open windows", False, error.message, error.cure, required=False)
    names = "; ".join(window.name for window in windows)
    return Check("open windows", True, names or "none that Blendwright can connect to", required=False)


def _other_blenders() -> list[Check]:
    """Summarize the other Blenders in one check, and add a failed check for each one that is broken or outdated."""
    listed_blenders = [row for row in list_blenders() if row.name != OWN]
    ready: list[str] = []
    addable: list[str] = []
    missing_pythons: set[str] = set()
    problems: list[Check] = []
    for row in listed_blenders:
        match row.standing:
            case "ready":
                ready.append(f"{row.name} ({row.blender} on Python {row.python})")
            case "not added":
                addable.append(row.name)
            case "no python":
                missing_pythons.add(row.python)
            case "broken" | "outdated":
                problems.append(Check(f"blender {row.name}", False, row.standing, row.cure, required=False))

    summary = f"added: {', '.join(ready) or 'none'}"
    if addable:
        summary += f"; can be added: {', '.join(addable)}"
    if missing_pythons:
        summary += f"; the rest need Python {' or '.join(sorted(missing_pythons))}, which is not installed"
    return [Check("other blenders", True, summary, required=False), *problems]


def _libraries(blender: str | None) -> list[Check]:
    """Check the system libraries that the wheel loads. Only on Linux must the user install them."""
    if sys.platform != "linux" or (blender is not None and isinstance(worker_source(blender), BlenderExecutable)):
        return []
    missing = {library: package for library, package in LIBRARIES.items() if not _loads(library)}
    if missing:
        state = f"missing: {', '.join(missing)}"
    else:
        state = f"all {len(LIBRARIES)} are installed"
    return [Check("system libraries", not missing, state, f"apt-get install {' '.join(missing.values())}")]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _blender(path: str | None) -> list[Check]:
    """Start a Blender on a temporary workspace and check its version, render engines, confinement and undo."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            with open(directory, blender=path, spare=False) as scene:
                profile = scene.blender
        except EnvironmentUnfit as error:
            return [Check("blender", False, error.message, error.cure or NO_BLENDER)]
    undo = profile.features.get("memfile_undo", False)
    if undo:
        undo_state = "Blender's own undo works headless"
    else:
        undo_state = "Blender's own undo is off; Blendwright rebuilds such steps instead"
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
    seccomp = "off"
    if confinement["seccomp"]:
        seccomp = "on"
    state = f"{confinement['level']} (Landlock {confinement['landlock_abi']}, seccomp {seccomp})"
    reason = confinement.get("reason") or "not available here"
    fix = f"{reason}. Tools work, but safe mode refuses Python steps."
    return Check("confinement", confinement["level"] == "full", state, fix, required=False)


def check_host(name: str) -> list[Check]:
    """Check each step between a host and our server, in the order in which the host performs them. Stop at the first failure."""
    host = host_named(name)
    fix = f"blendwright init-host {name}"
    entry: dict[str, Any] | None = None
    files: list[str] = []
    for scope in ("project", "user"):
        try:
            file = host.file(scope, home=home_directory(), project=Path.cwd())
            files.append(str(file))
            entry = entry or installed(host, file)
        except BlendwrightError as error:
            if files and Path(files[-1]).is_file():
                return [Check(f"{host.title} configuration", False, error.message, error.cure)]
    if entry is None:
        return [Check(f"{host.title} configuration", False, f"no entry in {' or '.join(files)}", fix)]

    configuration = Check(f"{host.title} configuration", True, str(entry.get("command")))
    command = shutil.which(str(entry.get("command", "")))
    if command is None:
        message = f"{entry.get('command')} is not an executable program"
        return [configuration, Check("server command", False, message, f"{fix} --replace")]
    return [configuration, _starts(host, [command, *map(str, entry.get("args", ()))])]


def _starts(host: Host, command: list[str]) -> Check:
    """Start the server as the host would, on a temporary workspace, and check that it lists its tools and answers a ping.

    The server may answer the first requests from a recording while it is still loading. Only the loaded server answers the ping.
    """
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    fix = f"Run it by hand: {shlex.join(command)}"
    with tempfile.TemporaryDirectory() as directory:
        try:
            answers, ending = _ask([*command, "--workspace", str(Path(directory, "workspace"))], text, last=2)
        except (OSError, ValueError, TypeError) as error:
            return Check("server start", False, f"{type(error).__name__}: {error}"[:200], fix)
    if "result" not in answers.get(2, {}):
        return Check("server start", False, f"it did not answer, and {ending}", fix)
    return Check("server start", True, f"{len(answers[1]['result']['tools'])} tools for {host.title}")


def _ask(command: list[str], text: str, *, last: int) -> tuple[dict[int, dict[str, Any]], str]:
    """Send the text to a server. Return its answers by id, up to the id `last`, and a description of its end.

    The input stays open until the last answer, as a host keeps it."""
    answers: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
        )
        timer = threading.Timer(SERVER_TIMEOUT_SECONDS, process.kill)
        timer.start()
        with process:
            assert process.stdin is not None and process.stdout is not None
            try:
                # A server that ended before it read everything explains the reason in its error output.
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.write(text)
                    process.stdin.flush()
                for line in process.stdout:
                    answer = json.loads(line)
                    if "id" in answer:
                        answers[answer["id"]] = answer
                    if last in answers:
                        break
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        errors.seek(0)
        tail = " ".join(errors.read().split())[-MAX_QUOTED_CHARACTERS:]
    return answers, f"ended with exit code {process.returncode}: {tail or 'it printed nothing'}"
