"""The language-model hosts we know how to set up: where each keeps its list of MCP servers, and our entry in it.

Only our own entry is written; everything else in a host's file stays as it is, and the file is replaced whole or not at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean

ENTRY = "blendwright"
BY_HAND = "Correct it, or write the entry by hand: --print shows it."
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
        if scope == "user":
            path = self.user
        else:
            path = self.project
        if path is None:
            if scope == "user":
                other = "project"
            else:
                other = "user"
            raise _refusal(f"{self.title} has no list of servers per {scope}", f"Use --scope {other}.")
        return (home if scope == "user" else project) / path


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


def entry(host: Host, workspace: Path, attach: str | None = None) -> dict[str, Any]:
    """Our entry: the very program that runs now, so that no path has to be right elsewhere, and the directory it is to work in.

    -P keeps Python from importing what lies in the directory that the host starts it in."""
    directory = workspace.resolve()
    program = Path(sys.argv[0]).resolve()
    if program.name.startswith(ENTRY):
        command = [str(program)]
    else:
        command = [sys.executable, "-P", "-m", ENTRY]
    args = [*command[1:], "serve", "--workspace", str(directory), "--directory", str(directory.parent)]
    args += [] if attach is None else ["--attach", attach]
    server: dict[str, Any] = {"command": command[0], "args": args}
    if host.typed:
        return {"type": "stdio", **server}
    return server


def remote_entry(url: str, token_variable: str) -> str:
    """An entry for a server that runs already, in one line to paste. Hosts put the value of the variable in the place of its name."""
    headers = {"Authorization": f"Bearer ${{{token_variable}}}"}
    return json.dumps({"mcpServers": {ENTRY: {"type": "http", "url": url, "headers": headers}}})


def installed(host: Host, file: Path) -> dict[str, Any] | None:
    """Our entry as the host's file has it, or None."""
    ours = _servers(host, file, _read(host, file)).get(ENTRY)
    if isinstance(ours, dict):
        return cast("dict[str, Any]", ours)
    return None


def install(host: Host, file: Path, ours: dict[str, Any], *, replace: bool = False) -> bool:
    """Put our entry in; False when it is there already. One that differs is replaced only when asked to."""
    whole = _read(host, file)
    servers = _servers(host, file, whole)
    if servers.get(ENTRY) == ours:
        return False
    if ENTRY in servers and not replace:
        raise _refusal(f"{file} has another entry for {ENTRY}", "Give --replace to put this one in its place.")
    expected = {**whole, host.key: {**servers, ENTRY: ours}}
    if host.format == "toml":
        text = _toml(host, file, ours)
    else:
        text = json.dumps(expected, indent=2, ensure_ascii=False) + "\n"
    try:
        data = text.encode()
        rest_is_unchanged = _parsed(host, text) == expected
    except ValueError:
        data, rest_is_unchanged = b"", False
    if not rest_is_unchanged:
        message = f"{file} is written in a way that our entry cannot be put in without changing the rest"
        raise _refusal(message, BY_HAND)
    _replace(file, data)
    return True


def _replace(file: Path, data: bytes) -> None:
    """Whole or not at all, under the permissions that it has, and where it really is: dotfiles are often links."""
    target = file.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        if target.exists():
            mode = target.stat().st_mode & 0o777
        else:
            mode = None
        # Such files may hold keys: nobody may read the new one who could not read the old one, not even for a moment.
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        with os.fdopen(opened, "wb") as new:
            new.write(data)
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise EnvironmentUnfit(f"{file} cannot be written: {error.strerror}", cure="Check its permissions.") from error


def snippet(host: Host, ours: dict[str, Any]) -> str:
    """What a person would write into the host's file by hand."""
    if host.format == "toml":
        return _section(host, ours)
    return json.dumps({host.key: {ENTRY: ours}}, indent=2) + "\n"


def _read(host: Host, file: Path) -> dict[str, Any]:
    try:
        document = _parsed(host, file.read_bytes().decode())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise EnvironmentUnfit(f"{file} cannot be read: {error.strerror}", cure="Check its permissions.") from error
    except (ValueError, RecursionError) as error:
        raise _refusal(f"{file} is not {host.format.upper()}: {error}", BY_HAND) from error
    return _object(document, str(file))


def _parsed(host: Host, text: str) -> Any:
    if host.format == "toml":
        return tomllib.loads(text)
    return json.loads(text if text.strip() else "{}")


def _servers(host: Host, file: Path, whole: dict[str, Any]) -> dict[str, Any]:
    return _object({} if whole.get(host.key) is None else whole[host.key], f"'{host.key}' in {file}")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refusal(f"{what} holds no names with values", BY_HAND)
    return cast("dict[str, Any]", value)


def _toml(host: Host, file: Path, ours: dict[str, Any]) -> str:
    """Appended as text, so that comments and order of the rest survive; an old section of ours is cut out first."""
    if file.exists():
        lines = file.read_bytes().decode().splitlines(keepends=True)
    else:
        lines = []
    our_header = re.compile(rf"\s*\[\s*{host.key}\s*\.\s*{ENTRY}\s*[].]")
    others: list[str] = []
    above: list[str] = []  # comments at the end of a section of ours: they belong to what follows
    inside = False
    for line in lines:
        if line.lstrip().startswith("["):
            inside = our_header.match(line) is not None
            others += [] if inside else above
            above = []
        if not inside:
            others.append(line)
        elif line.lstrip().startswith("#") or (above and not line.strip()):
            above.append(line)
        else:
            above = []
    text = "".join(others + above)
    if not text or text.endswith("\n\n"):
        gap = ""
    elif text.endswith("\n"):
        gap = "\n"
    else:
        gap = "\n\n"
    return text + gap + _section(host, ours)


def _section(host: Host, ours: dict[str, Any]) -> str:
    # JSON strings and arrays of strings are TOML, too.
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in ours.items())
    return f"[{host.key}.{ENTRY}]\n{values}"


def _refusal(message: str, cure: str) -> Refusal:
    return Refusal.of(Fault.ARGS_INVALID, message, cure)
