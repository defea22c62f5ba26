"""Readers for the plans that commands accept: a JSON document of any dialect, or a program with its parameters."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from blendwright.dialects import registry
from blendwright.dialects.dialect import Surroundings
from blendwright.schemas.json_reader import LARGEST, read_json
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary, Plan

PLAN_CURE = "Give the path of a JSON file or of a program, or - for standard input."
PROGRAM = "program"
ENDING = ".star"


def plan_text(path: str) -> bytes:
    """Return the content of a file, or of standard input for `-`. Raise Refusal when reading fails.

    Read at most one byte more than any dialect accepts.
    """
    try:
        if path == "-":
            return sys.stdin.buffer.read(LARGEST + 1)
        with Path(path).open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Refusal.of(Fault.SCHEMA_INVALID, f"cannot read {path}: {reason}", PLAN_CURE) from error


def read_document(path: str, dialect: str | None = None, given: Sequence[str] | None = None) -> bytes | dict[str, Any]:
    """Return a program as a document of its dialect, and any other plan as bytes.

    `given` contains the parameters of a program as NAME=VALUE. Raise Refusal for parameters without a program.
    """
    text = plan_text(path)
    if dialect is None:
        is_program = path.endswith(ENDING)
    else:
        is_program = dialect == PROGRAM and not text.lstrip().startswith(b"{")
    if not is_program:
        if given:
            cure = f"Name a program, whose name ends in {ENDING}, or say --dialect program."
            raise Refusal.of(Fault.SCHEMA_INVALID, "only programs have parameters to be set", cure)
        return text
    try:
        program = text.decode()
    except UnicodeDecodeError as error:
        message = f"{path} is not text in UTF-8, at byte {error.start}"
        raise Refusal.of(Fault.SCHEMA_INVALID, message, "Save it as UTF-8.") from error
    if path == "-":
        name = PROGRAM
    else:
        name = Path(path).name.replace(":", "_")[:100]
    return {"program": program, "params": parameters(given), "name": name}


def parameters(given: Sequence[str] | None) -> dict[str, Any]:
    """Return parameters from NAME=VALUE, with each value as JSON if it parses, else as a string. Raise Refusal for other forms."""
    values: dict[str, Any] = {}
    for assignment in given or ():
        name, equals, text = assignment.partition("=")
        if not equals or not name.isidentifier():
            cure = "Write --set NAME=VALUE, as in --set rooms=4."
            raise Refusal.of(Fault.ARGS_INVALID, f"'{assignment[:100]}' sets no parameter", cure)
        if name in values:
            raise Refusal.of(Fault.ARGS_INVALID, f"the parameter '{name}' is set twice", "Set it once.")
        value, findings = read_json(text)
        if findings:
            values[name] = text
        else:
            values[name] = value
    return values


def surroundings(path: str, document: bytes | Mapping[str, Any], workspace: str) -> Surroundings | None:
    """Return the tool names, macro names and libraries that a program may use, or None for a plan without a program."""
    if isinstance(document, bytes) and b'"program"' not in document:
        return None
    from blendwright.workspace.programs import program_surroundings

    if path == "-":
        folder = None
    else:
        folder = Path(path).parent
    return program_surroundings(workspace, beside=folder)


def read_plan_file(
    path: str,
    workspace: str,
    *,
    dialect: str | None = None,
    given: Sequence[str] | None = None,
    request_id: str | None = None,
    boundary: Boundary | None = None,
) -> Plan:
    """Return the plan in a file, with findings where it breaks its contract. Raise Refusal for a document that is not a plan."""
    document = read_document(path, dialect, given)
    around = surroundings(path, document, workspace)
    if isinstance(document, bytes):
        return registry.read_plan(
            document, dialect=dialect, request_id=request_id, boundary=boundary, surroundings=around
        )
    plan = registry.parse_plan(document, dialect=PROGRAM, request_id=request_id, boundary=boundary, surroundings=around)
    if plan.findings:
        raise Refusal(plan.findings)
    return plan


def write_yielded(path: Path, plan: Mapping[str, Any]) -> None:
    """Write the operations of a program as a JSON plan. Raise Refusal when writing fails."""
    try:
        path.write_bytes(orjson.dumps(plan, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Name another file.") from error
