"""The checks of `blendwright doctor --host`: the host's file, our entry in it, and a server that answers when it is started so."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from blendwright.app.hosts import Host, host_named, installed
from blendwright.app.policy_files import home_directory
from blendwright.values.errors import BlendwrightError

Check = dict[str, Any]
SECONDS = 120.0


def host_checks(name: str) -> list[Check]:
    """What stands between a host and our server, in the order in which it would be met."""
    host = host_named(name)
    cure = f"blendwright init-host {name}"
    found: dict[str, Any] | None = None
    files: list[str] = []
    for scope in ("project", "user"):
        try:
            file = host.file(scope, home=home_directory(), project=Path.cwd())
            files.append(str(file))
            found = found or installed(host, file)
        except BlendwrightError as error:
            if Path(files[-1] if files else "").is_file():
                return [_check(f"{host.title} configuration", False, error.message, error.cure)]
    if found is None:
        return [_check(f"{host.title} configuration", False, f"no entry in {' or '.join(files)}", cure)]
    checks = [_check(f"{host.title} configuration", True, f"{found.get('command')}")]
    command = shutil.which(str(found.get("command", "")))
    if command is None:
        return [*checks, _check("server command", False, f"{found.get('command')} cannot be run", f"{cure} --replace")]
    return [*checks, _starts(host, [command, *map(str, found.get("args", ()))])]


def _starts(host: Host, command: list[str]) -> Check:
    """Start it as the host would, on a workspace of its own, and ask for its tools."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    ]
    text = "".join(json.dumps(message) + "\n" for message in messages)
    with tempfile.TemporaryDirectory() as place:
        asked = [*command, "--workspace", str(Path(place, "workspace"))]
        try:
            ran = subprocess.run(asked, input=text, capture_output=True, text=True, timeout=SECONDS, check=False)
            answers = [json.loads(line) for line in ran.stdout.splitlines()]
            count = len(answers[1]["result"]["tools"])
        except (OSError, ValueError, LookupError, TypeError, subprocess.TimeoutExpired) as error:
            return _check("server start", False, f"{type(error).__name__}: {error}"[:200], "Run the command by hand.")
    return _check("server start", True, f"{count} tools for {host.title}")


def _check(name: str, ok: bool, found: str, cure: str | None = None) -> Check:
    return {"name": name, "ok": ok, "required": True, "found": found, "cure": None if ok else cure}
