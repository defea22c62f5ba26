"""Values that represent a program and its evaluation; `evaluate` leads from one to the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from blendwright.programs.evaluator_process import EVALUATORS, EvaluatorEnded, Evaluators, GoOn
from blendwright.programs.recording import Limits
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation, Site

LIMITS = Limits()
# Returns the text of a library file; raises Refusal if the program may not read it.
ReadLibrary = Callable[[str], str]
DEFAULT_NAME = "program"


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its text, its parameters, and its name in messages."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of a program. With findings, it has no operations. `libraries` maps the loaded files to their texts."""

    operations: tuple[Operation, ...]
    findings: tuple[Finding, ...] = ()
    printed: str = ""
    libraries: Mapping[str, str] = field(default_factory=dict[str, str])


def no_libraries(path: str) -> str:
    message = f"'{path[:100]}' cannot be loaded here: no files are open to this program"
    raise Refusal((Finding(Fault.SCHEMA_INVALID, message),))


def program_hash(program: Program, libraries: Mapping[str, str]) -> str:
    """Return the sha256 over everything that determines the program's operations."""
    content = [program.text, dict(program.params), dict(libraries)]
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def evaluate(
    program: Program,
    tools: Collection[str],
    read_library: ReadLibrary = no_libraries,
    limits: Limits = LIMITS,
    evaluators: Evaluators = EVALUATORS,
    go_on: GoOn = lambda seconds: True,
) -> Evaluated:
    """Return the operations, or a finding with its line and column.

    `tools` are the names that the program may call. Raise EvaluationStopped if `go_on` returns False.
    """
    size = len(program.text.encode(errors="replace"))
    if size > limits.text_bytes:
        message = f"the program has {size >> 10} kB; at most {limits.text_bytes >> 10} kB are allowed"
        return _refused(_at(Fault.LIMIT_EXCEEDED, message, "Move parts of it to library files.", program.name, 1, 1))
    if "\0" in program.text or not _is_text(program.text):
        message = "the program is not plain Unicode text"
        return _refused(_at(Fault.SCHEMA_INVALID, message, "Give text in UTF-8.", program.name, 1, 1))
    params_size = len(orjson.dumps(dict(program.params)))
    if params_size > limits.params_bytes:
        message = f"the params have {params_size >> 10} kB; at most {limits.params_bytes >> 10} kB are allowed"
        cure = "Give smaller parameters, or compute the data in the program."
        return _refused(Finding(Fault.LIMIT_EXCEEDED, message, "/params", cure))

    request = {
        "program": program.text.replace("\r\n", "\n"),
        "name": program.name,
        "params": dict(program.params),
        "tools": sorted(tools),
        "limits": {name: getattr(limits, name) for name in Limits.__dataclass_fields__},
    }
    try:
        answer = evaluators.ask(request, limits.seconds, read_library, go_on)
    except EvaluatorEnded as ended:
        return _refused(_diagnosed(ended, program.name, limits))
    if answer["error"] is not None:
        return _refused(_finding(answer["error"]), answer["printed"])
    if not answer["operations"]:
        cure = 'Call a tool, as in mesh.create_primitive(kind = "cube", name = "Box").'
        nothing = _at(Fault.SCHEMA_INVALID, "the program calls no tool", cure, program.name, 1, 1)
        return _refused(nothing, answer["printed"])

    sites: list[Site] = [_site(*fields) for fields in answer["sites"]]
    recorded = enumerate(cast("list[list[Any]]", answer["operations"]))
    operations = tuple(_operation(position, sites, *fields) for position, fields in recorded)
    return Evaluated(operations, (), answer["printed"], answer["libraries"])


def _refused(finding: Finding, printed: str = "") -> Evaluated:
    return Evaluated((), (finding,), printed)


def _at(fault: Fault, message: str, cure: str, file: str, line: int, column: int) -> Finding:
    return Finding(fault, message, "/program", cure, place=f"{file}:{line}:{column}")


def _finding(error: Mapping[str, Any]) -> Finding:
    if error["limit"]:
        fault = Fault.LIMIT_EXCEEDED
    else:
        fault = Fault.SCHEMA_INVALID
    callers = "".join(f", called from {file}:{line}" for file, line in error.get("called_from", ()))
    message = error["message"] + callers
    finding = _at(fault, message, error["cure"], error["file"], error["line"], error["column"])
    if error["param"] is None:
        return finding
    return Finding(fault, message, f"/params/{error['param']}", error["cure"], place=finding.place)


def _diagnosed(ended: EvaluatorEnded, name: str, limits: Limits) -> Finding:
    """Return the finding about a program that ended its process, at the last line that the process reported."""
    if ended.in_time:
        message = f"the program needs more than {limits.memory_mb} MB of memory, or is nested too deeply"
        cure = "Use smaller lists and strings, and nest less."
    else:
        message = f"the program takes more than {limits.seconds:g} seconds"
        cure = "Let it do less, or split it into several programs."
    return _at(Fault.LIMIT_EXCEEDED, message, cure, name, ended.line, 1)


def _operation(
    position: int, sites: Sequence[Site], id: str, tool: str, args: dict[str, Any], waits_for: list[str], site: int
) -> Operation:
    return Operation(id, tool, args, tuple(waits_for), None, position, f"/operations/{position}", site=sites[site])


def _site(file: str, line: int, column: int, arguments: Mapping[str, Any], callers: Sequence[Any]) -> Site:
    locations = {word: (at[0], at[1]) for word, at in arguments.items()}
    return Site(file, line, column, locations, tuple(map(tuple, callers)))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
