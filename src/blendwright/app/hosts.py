"""The language-model hosts we know how to set up: where each keeps its list of MCP servers, and our entry in it.

Only our own entry is written; everything else in a host's file stays as it is, and the file is replaced whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

ENTRY = "blendwright"
Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Host:
    """`user` and `project` are the files it reads, relative to the home and to the project; None where it has none."""

    name: str
    title: str
    key: str
    user: str | None
    project: str | None
    format: Literal["json", "toml"] = "json"
    typed: bool = False
    """Whether an entry says that it is a stdio server."""

    def file(self, scope: Scope, *, home: Path, project: Path) -> Path:
        place = self.user if scope == "user" else self.project
        if place is None:
            other = "project" if scope == "user" else "user"
            raise _refusal(f"{self.title} has no list of servers per {scope}", f"Use --scope {other}.")
        return (home if scope == "user" else project) / place


def _desktop() -> str:
    if sys.platform == "darwin":
        return "Library/Application Support/Claude/claude_desktop_config.json"
    if sys.platform == "win32":
        return "AppData/Roaming/Claude/claude_desktop_config.json"
    return ".config/Claude/claude_desktop_config.json"


HOSTS: Mapping[str, Host] = {
    host.name: host
    for host in (
        Host("gemini-cli", "Gemini CLI", "mcpServers", ".gemini/settings.json", ".gemini/settings.json"),
        Host("claude-desktop", "Claude Desktop", "mcpServers", _desktop(), None),
        Host("claude-code", "Claude Code", "mcpServers", ".claude.json", ".mcp.json"),
        Host("cursor", "Cursor", "mcpServers", ".cursor/mcp.json", ".cursor/mcp.json"),
        Host("vscode", "VS Code", "servers", None, ".vscode/mcp.json", typed=True),
        Host("codex", "Codex", "mcp_servers", ".codex/config.toml", None, format="toml"),
    )
}


def host_named(name: str) -> Host:
    if name not in HOSTS:
        cure = did_you_mean(name, HOSTS, otherwise=f"Known are: {', '.join(HOSTS)}.")
        raise _refusal(f"there is no host '{name}' that we know", cure)
    return HOSTS[name]


def entry(host: Host, workspace: Path) -> dict[str, Any]:
    """Our entry: the very program that runs now, so that no path has to be right elsewhere."""
    program = Path(sys.argv[0]).resolve()
    command = [str(program)] if program.name.startswith(ENTRY) else [sys.executable, "-m", ENTRY]
    found: dict[str, Any] = {
        "command": command[0],
        "args": [*command[1:], "serve", "--workspace", str(workspace.resolve())],
    }
    return {"type": "stdio", **found} if host.typed else found


def installed(host: Host, file: Path) -> dict[str, Any] | None:
    """Our entry as the host's file has it, or None."""
    servers = _read(host, file).get(host.key, {})
    found = cast("dict[str, Any]", servers).get(ENTRY) if isinstance(servers, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def install(host: Host, file: Path, wanted: dict[str, Any], *, replace: bool = False) -> bool:
    """Put our entry in; False when it is there already. One that differs is replaced only when asked to."""
    found = installed(host, file)
    if found == wanted:
        return False
    if found is not None and not replace:
        raise _refusal(f"{file} has another entry for {ENTRY}", "Give --replace to put this one in its place.")
    text = _toml(host, file, wanted, found) if host.format == "toml" else _json(host, file, wanted)
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text)
        if file.exists():
            part.chmod(file.stat().st_mode & 0o777)
        part.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing can be removed either
            part.unlink()
        raise EnvironmentUnfit(f"{file} cannot be written: {error.strerror}", cure="Check its permissions.") from error
    return True


def snippet(host: Host, wanted: dict[str, Any]) -> str:
    """What a person would write into the host's file by hand."""
    if host.format == "toml":
        return _section(host, wanted)
    return json.dumps({host.key: {ENTRY: wanted}}, indent=2) + "\n"


def _read(host: Host, file: Path) -> dict[str, Any]:
    try:
        text = file.read_text()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise EnvironmentUnfit(f"{file} cannot be read: {error.strerror}", cure="Check its permissions.") from error
    try:
        found: Any = tomllib.loads(text) if host.format == "toml" else json.loads(text or "{}")
    except ValueError as error:
        message = f"{file} is not {host.format.upper()}: {error}"
        raise _refusal(message, "Mend it, or write the entry by hand: --print shows it.") from error
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _json(host: Host, file: Path, wanted: dict[str, Any]) -> str:
    whole = _read(host, file)
    servers = whole.get(host.key)
    whole[host.key] = {**(cast("dict[str, Any]", servers) if isinstance(servers, dict) else {}), ENTRY: wanted}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _toml(host: Host, file: Path, wanted: dict[str, Any], found: dict[str, Any] | None) -> str:
    """Appended as text, so that comments and order of the rest survive; an old section of ours is cut out first."""
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    if found is not None:
        kept: list[str] = []
        inside = False
        for line in lines:
            if line.lstrip().startswith("["):
                inside = line.strip().startswith(f"[{host.key}.{ENTRY}")
            if not inside:
                kept.append(line)
        lines = kept
    text = "".join(lines)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + _section(host, wanted)


def _section(host: Host, wanted: dict[str, Any]) -> str:
    # JSON strings and arrays of strings are TOML, too.
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in wanted.items())
    return f"[{host.key}.{ENTRY}]\n{values}"


def _refusal(message: str, cure: str) -> Refusal:
    return Refusal([Finding(Fault.ARGS_INVALID, message, "", cure)])
