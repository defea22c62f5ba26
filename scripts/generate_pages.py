"""Write the reference pages that are derived from declarations, under docs/reference/: commands, settings, codes, schemas, the Python API.
With --check, only say what is not current, or has no words of its own.

Reads declarations only, so it needs no Blender."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import blendwright
from blendwright.cli.application import load_command
from blendwright.cli.commands import COMMANDS
from blendwright.cli.examples import all_examples
from blendwright.policy.policy import Policy
from blendwright.schemas import published
from blendwright.values.faults import RENDERINGS, Fault

EXAMPLES = all_examples()

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference"
NOTE = "<!-- Generated from declarations by scripts/generate_pages.py; do not edit. -->"

# What a code means, in words: the enumeration has names only.
MEANINGS: dict[Fault, str] = {
    Fault.SCHEMA_INVALID: "The plan does not match its published schema.",
    Fault.ARGS_INVALID: "Arguments of a tool are wrong: an unknown field, a value out of its range, a misspelt choice.",
    Fault.GRAPH_CYCLE: "Operations wait for each other in a circle.",
    Fault.DEPENDENCY_MISSING: "An operation waits for one that is not in the plan.",
    Fault.TOOL_NOT_ALLOWED: "The contract of this session has no such tool.",
    Fault.LIMIT_EXCEEDED: "More is asked for than a limit allows.",
    Fault.CAPABILITY_MISSING: "The session does not offer what the tool needs.",
    Fault.UNSUPPORTED_BLENDER: "The tool does not work with this Blender.",
    Fault.POLICY_BLOCKED: "The policy says no, or a person must say yes first.",
    Fault.TARGET_NOT_FOUND: "What the call names is not there: an object, a material, a file.",
    Fault.SCENE_CONFLICT: "A name is taken, or the scene is in a state in which this cannot be done.",
    Fault.IDEMPOTENCY_CONFLICT: "The same request and operation were done before with other arguments, or on another line of history.",
    Fault.TOOL_TIMEOUT: "The deadline passed. The scene is as it was before the operation.",
    Fault.CANCELLED: "Somebody cancelled it. The scene is as it was before the operation.",
    Fault.NONDETERMINISTIC_REFUSED: "Equal results were demanded, and this operation cannot promise them.",
    Fault.EXECUTION_FAILED: "Blender raised an error. What it had changed is taken back.",
    Fault.VERIFICATION_FAILED: "What was read back is not what was promised, or a gate was not passed.",
    Fault.WORKER_LOST: "The Blender process died. The scene was rebuilt from the journal.",
    Fault.ROLLBACK_FAILED: "No way of taking the operation back could be proven; the workspace is quarantined (blendwright recover).",
    Fault.INTERNAL_ERROR: "A defect of Blendwright; the log of the workspace has its details.",
}
EXIT_CODES = (
    ("0", "done"),
    ("1", "it ran and failed: an operation, a gate, an audit or a comparison; a conflict that was met while running"),
    ("2", "refused before anything ran: an invalid plan, the policy, the contract, a missing approval"),
    ("3", "the environment is not fit: no Blender, a workspace that is locked or quarantined"),
    ("130", "interrupted"),
)


def documents() -> dict[Path, str]:
    pages: Mapping[str, Callable[[], Iterator[str]]] = {
        "commands": _commands,
        "settings": _settings,
        "codes": _codes,
        "schemas": _schemas,
        "python": _python,
    }
    return {PAGES / f"{name}.md": "\n\n".join((NOTE, *page())) + "\n" for name, page in pages.items()}


# ---------------------------------------------------------------------- pages


def _commands() -> Iterator[str]:
    yield "# Commands"
    yield "Every command takes `--help`. What they have in common: exit codes are told in [codes](codes.md#exit-codes)."
    yield _table(("command", "what it does"), [(f"[`{name}`](#{name})", COMMANDS[name].summary) for name in COMMANDS])
    for name in COMMANDS:
        yield from _command(f"blendwright {name}", load_command(name), 2)


def _command(name: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} {name.removeprefix('blendwright ')}"
    subcommands: Mapping[str, Any] = getattr(command, "commands", {})
    usage = [part for part in (_argument_usage(one) for one in command.params) if part]
    if subcommands:
        usage.append("COMMAND …")
    yield f"`{' '.join((name, *usage))}`"
    yield _plain(command.help)
    rows = [_parameter(one) for one in command.params if one.name != "help"]
    if rows:
        yield _table(("", "what it is", "default"), rows)
    yield "\n".join(("```", *EXAMPLES[name.removeprefix("blendwright ")], "```"))
    for sub in subcommands.values():
        yield from _command(f"{name} {sub.name}", sub, level + 1)


def _argument_usage(parameter: Any) -> str:
    return _metavar(parameter) if parameter.param_type_name == "argument" else ""


def _metavar(parameter: Any) -> str:
    shown = parameter.metavar or parameter.name.upper()
    return shown if parameter.required else f"[{shown}]"


def _parameter(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
    else:
        name = ", ".join((*parameter.opts, *parameter.secondary_opts))
        name += "" if parameter.is_flag or parameter.metavar is None else f" {parameter.metavar}"
    default: Any = parameter.default
    if default is None or default is False or default == () or callable(default):
        shown = ""
    else:
        several = cast("Sequence[Any]", default if isinstance(default, list | tuple) else [default])
        shown = _code(", ".join(map(str, several)))
    return _code(name), _plain(parameter.help), shown


def _settings() -> Iterator[str]:
    yield "# Settings"
    yield (
        "The tables of `blendwright.toml`: that of the workspace counts before the user's own "
        "(`~/.config/blendwright/blendwright.toml`), and both before the defaults below. `blendwright contract` shows what holds, and why; "
        "`blendwright new` writes a file with every setting as a comment. What they mean: [policy](../policy.md)."
    )
    for name, field in Policy.model_fields.items():
        yield f"## {name}"
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            if model.__doc__:
                yield _plain(model.__doc__)
            yield _table(("setting", "what it is", "default"), list(_fields(model, name)))
        else:
            yield _table(("setting", "what it is", "default"), [_field(name, field)])


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _fields(inner, f"{prefix}.{name}")
        else:
            yield _field(f"{prefix}.{name}", field)


def _field(name: str, field: FieldInfo) -> tuple[str, str, str]:
    default = field.get_default(call_default_factory=True)
    return _code(name), _plain(field.description), _code(_value(default))


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return json.dumps(value, default=lambda one: one.value if isinstance(one, Enum) else str(one))


def _codes() -> Iterator[str]:
    yield "# Codes"
    yield (
        "Everything that can go wrong has one of these codes, with the place (a JSON pointer), what is wrong, and a cure. "
        "The last columns are its names in the other published contracts, and what a repair does about it."
        " What refuses which call: [refusals](refusals.md)."
    )
    rows = [
        (
            _code(fault.value), MEANINGS[fault], _code(how.tool_result), _code(how.core),
            _code(how.repair) if how.repair else "none",
        )
        for fault, how in RENDERINGS.items()
    ]  # fmt: skip
    yield _table(("code", "what it means", "ToolResult", "core envelope", "repair"), rows)
    yield "## Exit codes"
    yield _table(("code", "what it means"), [(_code(code), meaning) for code, meaning in EXIT_CODES])


def _schemas() -> Iterator[str]:
    yield "# Schemas"
    yield (
        "The JSON Schemas that are published with the package: `blendwright schemas NAME` prints one. "
        "A change that breaks one gets a new number."
    )
    rows: list[Sequence[str]] = []
    for name in published.names():
        schema = published.schema(name)
        rows.append((_code(name), _plain(schema.get("description") or schema.get("title"))))
    yield _table(("schema", "what it describes"), rows)


def _python() -> Iterator[str]:
    yield "# Python API"
    yield "`import blendwright` gives these names; everything else is an inside that may change."
    for name in blendwright.__all__:
        thing = getattr(blendwright, name)
        yield f"## {name}"
        yield from _described(name, thing)
        if inspect.isclass(thing):
            for member, value in _members(thing):
                yield f"### {name}.{member}"
                yield from _described(member, value)


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(thing).items():
        if name.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            continue
        yield name, value


def _described(name: str, thing: Any) -> Iterator[str]:
    function: Any = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
    if isinstance(thing, property):
        yield f"*property*: `{_annotation(function)}`"
    else:
        try:
            signature = str(inspect.signature(function))
        except ValueError:
            signature = ""
        if signature:
            yield f"```python\n{name}{_readable(signature)}\n```"
    yield inspect.getdoc(function) or ""


def _annotation(function: Any) -> str:
    return str(inspect.signature(function).return_annotation)


def _readable(signature: str) -> str:
    """Without quotes of late annotations and addresses of defaults."""
    return re.sub(r"<[^<>]* object at 0x[0-9a-f]+>", "…", signature.replace("'", ""))


# ---------------------------------------------------------------------- text


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())


def _code(text: str) -> str:
    return f"`{text}`"


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *([cell.replace("|", r"\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---------------------------------------------------------------------- running


def undescribed() -> Iterator[str]:
    """What stands in a page without a word of its own."""
    for path, text in documents().items():
        for line in text.splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) > 1 and cells[0].startswith("`") and not cells[1]:
                yield f"{path.relative_to(ROOT)}: {cells[0]} is not described"
    for name in blendwright.__all__:
        thing = getattr(blendwright, name)
        members = [(f"{name}.{member}", value) for member, value in _members(thing)] if inspect.isclass(thing) else []
        for full, value in ((name, thing), *members):
            if not inspect.getdoc(value):
                yield f"docs/reference/python.md: {full} has no docstring"


def main(*options: str) -> int:
    expected = documents()
    problems = list(undescribed())
    if "--check" in options:
        stale = [path for path, text in expected.items() if not path.is_file() or path.read_text("utf-8") != text]
        problems += [f"{path.relative_to(ROOT)} is not current: run make generate" for path in stale]
    else:
        for path, text in expected.items():
            path.write_text(text, "utf-8")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
