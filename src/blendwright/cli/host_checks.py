"""The checks of `blendwright doctor --host`: the host's file, our entry in it, and a server that answers when it is started so."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from blendwright.app.hosts import Host, host_named, installed
from blendwright.app.policy_files import home_directory
from blendwright.values.errors import BlendwrightError

Check = dict[str, Any]
SECONDS = 120.0
# Of what a server says before it ends, the end tells why.
LONGEST = 300


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
    with tempfile.TemporaryDirectory() as place:
        try:
            answers, ended = _asked([*command, "--workspace", str(Path(place, "workspace"))], text, last=2)
        except (OSError, ValueError, TypeError) as error:
            return _check("server start", False, f"{type(error).__name__}: {error}"[:200], cure)
    if "result" not in answers.get(2, {}):
        return _check("server start", False, f"it did not answer, and {ended}", cure)
    return _check("server start", True, f"{len(answers[1]['result']['tools'])} tools for {host.title}")


def _asked(command: list[str], text: str, *, last: int) -> tuple[dict[int, dict[str, Any]], str]:
    """The answers up to the last one, by id, and how the process ended. Its input stays open so long: a host hangs up when it is done."""
    answers: dict[int, dict[str, Any]] = {}
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8"
        )
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        with process:
            assert process.stdin is not None and process.stdout is not None
            try:
                # Gone before it has read everything: what it said last tells why.
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
                late.cancel()
                process.kill()
        said.seek(0)
        words = " ".join(said.read().split())[-LONGEST:]
    return answers, f"ended with exit code {process.returncode}: {words or 'it said nothing'}"


def _check(name: str, ok: bool, found: str, cure: str | None = None) -> Check:
    return {"name": name, "ok": ok, "required": True, "found": found, "cure": None if ok else cure}
