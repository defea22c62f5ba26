"""Write src/blendwright/cli/completion.json: what shells complete, made of the declarations of all commands.
With --check, only say whether it is current.

Reads declarations only, so it needs no Blender."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from blendwright.cli.application import app, load_command
from blendwright.cli.commands import COMMANDS
from blendwright.macros import package_macros
from blendwright.nodes.catalogue.load import TREE_KINDS
from blendwright.schemas import published
from blendwright.setup.hosts import HOSTS
from blendwright.tools import catalog

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "blendwright" / "cli" / "completion.json"
FILES = {"FILE", "FILE.blend", "PNG", "JSON", "TABLE", "PLAN", "PROGRAM", "BUNDLE", "PATH", "VERSION|PATH", "ZIP|DIR"}
DIRECTORIES = {"DIR", "DIR|URL", "FOLDER", "WORKSPACE"}
LONGEST_HELP = 70


def program() -> dict[str, Any]:
    whole: Any = get_command(app)
    return _command(whole, "") | {"commands": {name: _command(load_command(name), name) for name in COMMANDS}} | {
        "follows": [*COMMANDS]
    }  # fmt: skip


def _command(command: Any, path: str) -> dict[str, Any]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    inner: dict[str, Any] = getattr(command, "commands", {}) if path else {}
    options = {
        name: {"help": _short(one.help), "value": None if one.is_flag else _value(one, path)}
        for one in command.params
        if one.param_type_name == "option" and one.name != "help"
        for name in (*one.opts, *one.secondary_opts)
    }
    follows = [*inner] if inner else _value(arguments[0], path) if arguments else "anything"
    return {
        "help": _short(COMMANDS[path].summary if path in COMMANDS else command.help),
        "options": options,
        "follows": follows,
        "commands": {name: _command(one, f"{path} {name}") for name, one in inner.items()},
    }


def _value(parameter: Any, path: str) -> str | list[str]:
    """What may be given for a parameter, as far as it is known beforehand."""
    annotation: Any = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(one.value) for one in annotation]
    if get_origin(annotation) is Literal:
        return [*map(str, get_args(annotation))]
    metavar: str = parameter.metavar or ""
    match path, metavar:
        case "call", "TOOL":
            return sorted((*catalog.tools(), *package_macros()))
        case "tools", "NAME":
            return sorted(catalog.tools())
        case "macros", "NAME":
            return sorted(package_macros())
        case "schemas", "NAME":
            return sorted(published.names())
        case "init-host" | "doctor", "HOST":
            return [*HOSTS]
        case "nodes", "KIND":
            return [*TREE_KINDS]
        case _, _ if metavar in FILES:
            return "file"
        case _, _ if metavar in DIRECTORIES:
            return "directory"
        case _, _ if "|" in metavar and metavar == metavar.lower():
            return metavar.split("|")
        case _:
            return "anything"


def _short(text: str | None) -> str:
    """The first sentence, as far as it fits beside a list."""
    sentence = " ".join((text or "").split()).partition(". ")[0].rstrip(".")
    return sentence if len(sentence) <= LONGEST_HELP else sentence[: LONGEST_HELP - 1].rstrip() + "…"


def main(*options: str) -> int:
    text = json.dumps(program(), indent=1, ensure_ascii=False) + "\n"
    if "--check" not in options:
        TARGET.write_text(text, "utf-8")
    elif not TARGET.is_file() or TARGET.read_text("utf-8") != text:
        print(f"{TARGET.relative_to(ROOT)} is not current: run make generate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
