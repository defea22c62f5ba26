"""Record of a program's evaluation: tool calls, requested parameters and printed lines. It runs in the evaluator's
process.

Operations are numbered in order, so that the lexical order of their ids is the order of the program.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import orjson

from blendwright.schemas.json_reader import LARGEST_EXACT

FRAME = re.compile(r"^  \* (<\w+>):(\d+), in ", re.MULTILINE)
# A number with so many digits that some JSON readers may round it.
MANY_DIGITS = re.compile(r"\d{16}")
MAIN = "<0>"
# The keys of a handle in JSON: the name of the created item, and the operation.
HANDLE = {"name", "operation"}
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
LONGEST_EXACT = len(str(-LARGEST_EXACT))
NOT_FINITE = re.compile(r"\b(inf|nan)\b")
ID_DIGITS = 5
MAX_FRAMES_KEPT = 4
TYPES: dict[type[object], str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class ProgramError(Exception):
    """An error in a call that a program makes. It is reported at the line of the call."""


class LimitPassed(ProgramError):
    """An error because a program passed one of its limits."""


class ProgramFailed(ProgramError):
    """An error that the program itself raised with `fail`."""


@dataclass(frozen=True)
class Limits:
    """Limits of one program.

    Steps are loop rounds and calls, counted in thousands; the time limit ends work that counts no steps.
    """

    text_bytes: int = 262_144
    libraries: int = 32
    operations: int = 99_999
    argument_bytes: int = 32 * 1024 * 1024
    params_bytes: int = 4 * 1024 * 1024
    printed_bytes: int = 16_384
    steps: int = 10_000_000
    call_depth: int = 100
    memory_mb: int = 256
    seconds: float = 10.0


class Recorded(NamedTuple):
    """A call of a tool.

    `frames` are the locations that led to it as file label and line, starting with the call itself.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    depends_on: list[str]
    frames: list[tuple[str, int]]


@dataclass
class Recorder:
    """The record of one program's actions."""

    params: Mapping[str, Any]
    limits: Limits
    lines: Sequence[int] = ()
    """The author's line number for each line of the instrumented text; empty if both texts are the same."""
    operations: list[Recorded] = field(default_factory=list[Recorded])
    ids: set[str] = field(default_factory=set[str])
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    printed: list[str] = field(default_factory=list[str])
    refused_param: str | None = None
    refused: ProgramError | None = None
    """The error with which one of these methods ended the program.

    Its message comes from here, because Starlark's text mixes the program's words with its own.
    """
    _printed_bytes: int = 0
    _argument_bytes: int = 0
    _waiting: str = ""

    def record(self, text: str) -> str:
        """Add the operation and return its id. Return "" if a null among its arguments needs a check first."""
        if "null" in text:
            self._waiting = text
            return ""
        return self._add(text)

    def record_nulls(self) -> str:
        return self._add(self._waiting)

    def refuse(self, error: ProgramError) -> ProgramError:
        """Remember the error and return it, for the caller to raise."""
        self.refused = error
        return error

    def fail(self, text: str) -> None:
        raise self.refuse(ProgramFailed(text))

    def refuse_infinite(self, shown: str) -> None:
        match = NOT_FINITE.search(STRINGS.sub('""', shown))
        if match:
            raise self.refuse(ProgramError(f"an argument is {match[1]}, which is not a finite number"))

    def _add(self, text: str) -> str:
        tool, stack, positional, arguments = self._read(text)
        if positional:
            raise self.refuse(ProgramError(f'{tool} takes its arguments by name, as in {tool}(name="Box")'))
        self._argument_bytes += len(text)
        if len(self.operations) >= self.limits.operations:
            raise self.refuse(LimitPassed(f"the program makes more than {self.limits.operations} operations"))
        if self._argument_bytes > self.limits.argument_bytes:
            limit_mb = self.limits.argument_bytes >> 20
            raise self.refuse(LimitPassed(f"the operations of the program have more than {limit_mb} MB"))
        frames = self.frames(stack)
        makers: dict[str, None] = {}
        arguments = {word: self._named(value, makers, word) for word, value in arguments.items()}
        line = next((line for label, line in frames if label == MAIN), 0)
        id = f"{len(self.operations) + 1:0{ID_DIGITS}d}_L{line}"
        if len(frames) > MAX_FRAMES_KEPT:
            frames = [*frames[: MAX_FRAMES_KEPT - 1], frames[-1]]
        self.operations.append(Recorded(id, tool, arguments, list(makers), frames))
        self.ids.add(id)
        return id

    def frames(self, stack: str) -> list[tuple[str, int]]:
        """Return the locations in a Starlark stack, innermost first."""
        locations: list[tuple[str, int]] = []
        for label, line in FRAME.findall(stack):
            if label != "<prelude>":
                locations.append((label, self.line(label, int(line))))
        locations.reverse()
        return locations

    def line(self, label: str, line: int) -> int:
        """Return the author's line for a line of the instrumented text."""
        if label == MAIN and self.lines:
            return self.lines[min(line, len(self.lines)) - 1]
        return line

    def _read(self, text: str) -> Any:
        """Parse JSON from Starlark. Refuse a whole number without a canonical form before parsing rounds it."""
        if MANY_DIGITS.search(text):
            json.loads(text, parse_int=self._exact)
        return orjson.loads(text)

    def _exact(self, digits: str) -> int:
        if len(digits) > LONGEST_EXACT or abs(int(digits)) > LARGEST_EXACT:
            shown = digits
            if len(digits) > 20:
                shown = "of more than 64 bits"
            raise self.refuse(ProgramError(f"the integer {shown} is too large for every JSON reader to hold exactly"))
        return 0

    def _named(self, value: Any, makers: dict[str, None], word: str) -> Any:
        """Return the value with names instead of handles."""
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            if members.keys() == HANDLE and members["operation"] in self.ids:
                if members["name"] is None:
                    message = f"'{word}' got the handle of a call that returns no name"
                    raise self.refuse(ProgramError(message))
                makers[members["operation"]] = None
                return self._named(members["name"], makers, word)
            return {key: self._named(inner, makers, word) for key, inner in members.items()}
        if isinstance(value, list):
            return [self._named(inner, makers, word) for inner in cast("list[Any]", value)]
        return value

    def parameter(self, text: str) -> dict[str, Any]:
        name, default, choices, low, high, unknown = self._read(text)
        if unknown:
            message = f"param has no option '{unknown[0]}': it takes a name, a default, choices, min and max"
            raise self.refuse(ProgramError(message))
        if not isinstance(name, str) or not name.isidentifier():
            raise self.refuse(ProgramError('param takes the name of a parameter first, as in param("rooms", 4)'))
        self.asked[name] = default
        if name not in self.params:
            if default is None:
                self.refused_param = name
                raise self.refuse(ProgramError(f"the parameter '{name}' must be given, since it has no default"))
            return {"value": default}
        value = self.params[name]
        problem = _unfit(value, default, choices, low, high)
        if problem:
            self.refused_param = name
            raise self.refuse(ProgramError(f"the parameter '{name}' {problem}"))
        if isinstance(default, float):
            value = float(value)
        return {"value": value}

    def unknown_params(self) -> list[tuple[str, list[str]]]:
        """Return the given parameters that the program never requested, each with similar names."""
        unrequested = [name for name in self.params if name not in self.asked]
        return [(name, difflib.get_close_matches(name, self.asked, n=2)) for name in unrequested]

    def print(self, text: str) -> None:
        self._printed_bytes += len(text.encode()) + 1
        if self._printed_bytes > self.limits.printed_bytes:
            raise self.refuse(LimitPassed(f"the program prints more than {self.limits.printed_bytes >> 10} kB"))
        self.printed.append(text)


def _unfit(value: Any, default: Any, choices: Sequence[Any] | None, low: Any, high: Any) -> str | None:
    if default is not None:
        wanted = cast("type[object]", type(default))
        if wanted is float:
            fits = type(value) in (int, float)
        else:
            fits = type(value) is wanted
        if not fits:
            return f"is {TYPES[wanted]} ({default!r} by default), and {value!r:.60} was given"
    if choices is not None and value not in choices:
        return f"is one of {', '.join(map(repr, choices))}, and {value!r:.60} was given"
    if (low is not None or high is not None) and type(value) not in (int, float):
        return f"is a number, and {value!r:.60} was given"
    if low is not None and value < low:
        return f"is at least {low}, and {value} was given"
    if high is not None and value > high:
        return f"is at most {high}, and {value} was given"
    return None
