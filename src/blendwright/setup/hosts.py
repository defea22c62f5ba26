"""The language-model hosts that Blendwright can configure: the location of each host's list of MCP servers, and our entry in it.

Blendwright writes only its own entry and keeps the rest of the file. It replaces the file atomically.
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
    """A language-model host.

    `user` and `project` are its configuration files, relative to the home and to the project directory; None if it has no such file.
    `key` is the name of the list of servers in the file."""

    name: str
    title: str
    key: str
    user: str | None
    project: str | None
    format: Literal["json", "toml"] = "json"
    typed: bool = False
    """Whether an entry states its type `stdio`."""

    def file(self, scope: Scope, *, home: Path, project: Path) -> Path:
        """Return the configuration file of a scope. Raise Refusal if the host has none."""
        if scope == "user":
            directory, path, other_scope = home, self.user, "project"
        else:
            directory, path, other_scope = project, self.project, "user"
        if path is None:
            raise _refusal(f"{self.title} has no list of servers per {scope}", f"Use --scope {other_scope}.")
        return directory / path


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
    """Return a host by its name. Raise Refusal for an unknown name."""
    if name not in HOSTS:
        fix = did_you_mean(name, HOSTS, otherwise=f"Supported hosts: {', '.join(HOSTS)}.")
        raise _refusal(f"unknown host '{name}'", fix)
    return HOSTS[name]


def entry(host: Host, workspace: Path, attach: str | None = None) -> dict[str, Any]:
    """Return our entry for a host, which starts the program that runs now on the workspace.

    -P keeps Python from importing modules of the directory in which the host starts it."""
    directory = workspace.resolve()
    program = Path(sys.argv[0]).resolve()
    if program.name.startswith(ENTRY):
        command = [str(program)]
    else:
        command = [sys.executable, "-P", "-m", ENTRY]
    args = [*command[1:], "serve", "--workspace", str(directory), "--directory", str(directory.parent)]
    if attach is not None:
        args += ["--attach", attach]
    server: dict[str, Any] = {"command": command[0], "args": args}
    if host.typed:
        return {"type": "stdio", **server}
    return server


def remote_entry(url: str, token_variable: str) -> str:
    """Return one line of JSON to paste: an entry for a running server. Hosts insert the value of the token's environment variable."""
    headers = {"Authorization": f"Bearer ${{{token_variable}}}"}
    return json.dumps({"mcpServers": {ENTRY: {"type": "http", "url": url, "headers": headers}}})


def installed(host: Host, file: Path) -> dict[str, Any] | None:
    """Return our entry in the host's file, or None."""
    ours = _servers(host, file, _read(host, file)).get(ENTRY)
    if isinstance(ours, dict):
        return cast("dict[str, Any]", ours)
    return None


def install(host: Host, file: Path, ours: dict[str, Any], *, replace: bool = False) -> bool:
    """Write our entry into the host's file. Return False if the same entry exists already.

    Raise Refusal if another entry exists and `replace` is false, or if the file cannot take the entry without other changes."""
    document = _read(host, file)
    servers = _servers(host, file, document)
    if servers.get(ENTRY) == ours:
        return False
    if ENTRY in servers and not replace:
        raise _refusal(f"{file} has another entry for {ENTRY}", "Pass --replace to overwrite it.")

    expected = {**document, host.key: {**servers, ENTRY: ours}}
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
        message = f"the format of {file} does not allow adding our entry without changing the rest"
        raise _refusal(message, BY_HAND)
    _replace(file, data)
    return True


def _replace(file: Path, data: bytes) -> None:
    """Replace a file atomically. Keep its permissions, and follow a symbolic link, because dotfiles are often links."""
    target = file.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        mode = None
        if target.exists():
            mode = target.stat().st_mode & 0o777
        # The file may hold keys. Therefore the new file is never readable for users who could not read the old one.
        creation_mode = 0o600
        if mode is None:
            creation_mode = 0o666
        opened = os.open(part, flags, creation_mode)
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
    """Return the text that a user would add to the host's file by hand."""
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
    return json.loads(text.strip() or "{}")


def _servers(host: Host, file: Path, document: dict[str, Any]) -> dict[str, Any]:
    servers = document.get(host.key)
    if servers is None:
        servers = {}
    return _object(servers, f"'{host.key}' in {file}")


def _object(value: Any, location: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refusal(f"{location} is not a table of names and values", BY_HAND)
    return cast("dict[str, Any]", value)


def _toml(host: Host, file: Path, ours: dict[str, Any]) -> str:
    """Return the file's text with our section at its end. Remove an old section of ours, and keep comments and order of the rest."""
    if file.exists():
        lines = file.read_bytes().decode().splitlines(keepends=True)
    else:
        lines = []
    our_header = re.compile(rf"\s*\[\s*{host.key}\s*\.\s*{ENTRY}\s*[].]")
    kept_lines: list[str] = []
    pending_comments: list[str] = []  # comments at the end of our section, which belong to the next section
    inside = False
    for line in lines:
        if line.lstrip().startswith("["):
            inside = our_header.match(line) is not None
            if not inside:
                kept_lines += pending_comments
            pending_comments = []
        if not inside:
            kept_lines.append(line)
        elif line.lstrip().startswith("#") or (pending_comments and not line.strip()):
            pending_comments.append(line)
        else:
            pending_comments = []
    text = "".join(kept_lines + pending_comments)
    if not text or text.endswith("\n\n"):
        gap = ""
    elif text.endswith("\n"):
        gap = "\n"
    else:
        gap = "\n\n"
    return text + gap + _section(host, ours)


def _section(host: Host, ours: dict[str, Any]) -> str:
    # JSON strings and JSON arrays of strings are valid TOML.
    values = "".join(f"{key} = {json.dumps(value)}\n" for key, value in ours.items())
    return f"[{host.key}.{ENTRY}]\n{values}"


def _refusal(message: str, cure: str) -> Refusal:
    return Refusal.of(Fault.ARGS_INVALID, message, cure)
