"""What a program does while it is evaluated: tools called, parameters asked for, lines printed. Runs in the evaluator's process.

Operations are numbered as they are made, so that the lexical order of their ids is the order of the program.
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
# Digits enough for a whole number that JSON readers may not hold exactly; most texts have none.
MANY_DIGITS = re.compile(r"\d{16}")
MAIN = "<0>"
# A handle, as JSON has it: the name that the call was about, and the operation.
HANDLE = {"name", "operation"}
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
LONGEST_EXACT = len(str(-LARGEST_EXACT))
NOT_FINITE = re.compile(r"\b(inf|nan)\b")
ID_DIGITS = 5
MOST_FRAMES_KEPT = 4
TYPES: dict[type[object], str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


class ProgramError(Exception):
    """What is wrong with a call that a program makes; told at the line of the call."""


class LimitPassed(ProgramError):
    """One of the limits of programs."""


class ProgramFailed(ProgramError):
    """What the program itself says is wrong, by `fail`."""


@dataclass(frozen=True)
class Limits:
    """What one program may take. Steps are loop rounds and calls, counted in thousands; time ends what steps do not see."""

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
    """One call of a tool. `frames` are the places that led to it, the call itself first: label of the file and line."""

    id: str
    tool: str
    arguments: dict[str, Any]
    depends_on: list[str]
    frames: list[tuple[str, int]]


@dataclass
class Recorder:
    """Everything that one program does."""

    params: Mapping[str, Any]
    limits: Limits
    lines: Sequence[int] = ()
    """The line of the program for each line of what is evaluated in its place; none where they are the same."""
    operations: list[Recorded] = field(default_factory=list[Recorded])
    ids: set[str] = field(default_factory=set[str])
    asked: dict[str, Any] = field(default_factory=dict[str, Any])
    printed: list[str] = field(default_factory=list[str])
    refused_param: str | None = None
    refused: ProgramError | None = None
    """Why the program was ended by one of these methods. Its message is taken from here: in what Starlark says of it, the program's
    own words could not be told from Starlark's."""
    _printed_bytes: int = 0
    _argument_bytes: int = 0
    _waiting: str = ""

    def record(self, text: str) -> str:
        """The id of the operation; nothing where a null among the arguments must be looked at first."""
        if "null" in text:
            self._waiting = text
            return ""
        return self._add(text)

    def record_nulls(self) -> str:
        return self._add(self._waiting)

    def refuse(self, error: ProgramError) -> ProgramError:
        """The error to be raised."""
        self.refused = error
        return error

    def fail(self, text: str) -> None:
        raise self.refuse(ProgramFailed(text))

    def refuse_infinite(self, shown: str) -> None:
        if match := NOT_FINITE.search(STRINGS.sub('""', shown)):
            raise self.refuse(ProgramError(f"an argument is {match[1]}, which is not a finite number"))

    def _add(self, text: str) -> str:
        tool, stack, positional, arguments = self._read(text)
        if positional:
            raise self.refuse(ProgramError(f'{tool} takes its arguments by name, as in {tool}(name="Box")'))
        self._argument_bytes += len(text)
        if len(self.operations) >= self.limits.operations:
            raise self.refuse(LimitPassed(f"the program makes more than {self.limits.operations} operations"))
        if self._argument_bytes > self.limits.argument_bytes:
            most = self.limits.argument_bytes >> 20
            raise self.refuse(LimitPassed(f"the operations of the program have more than {most} MB"))
        frames = self.frames(stack)
        makers: dict[str, None] = {}
        arguments = {word: self._named(value, makers, word) for word, value in arguments.items()}
        line = next((line for label, line in frames if label == MAIN), 0)
        id = f"{len(self.operations) + 1:0{ID_DIGITS}d}_L{line}"
        if len(frames) <= MOST_FRAMES_KEPT:
            shown = frames
        else:
            shown = [*frames[: MOST_FRAMES_KEPT - 1], frames[-1]]
        self.operations.append(Recorded(id, tool, arguments, list(makers), shown))
        self.ids.add(id)
        return id

    def frames(self, stack: str) -> list[tuple[str, int]]:
        """The places that a stack of Starlark names, the innermost first."""
        found = [(label, int(line)) for label, line in FRAME.findall(stack) if label != "<prelude>"][::-1]
        return [(label, self.line(label, line)) for label, line in found]

    def line(self, label: str, line: int) -> int:
        """The line of the program for one of what is evaluated."""
        if label == MAIN and self.lines:
            return self.lines[min(line, len(self.lines)) - 1]
        return line

    def _read(self, text: str) -> Any:
        """What Starlark wrote as JSON. A whole number that has no canonical form is refused, before it becomes another one."""
        if MANY_DIGITS.search(text):
            json.loads(text, parse_int=self._exact)
        return orjson.loads(text)

    def _exact(self, digits: str) -> int:
        if len(digits) > LONGEST_EXACT or abs(int(digits)) > LARGEST_EXACT:
            if len(digits) <= 20:
                shown = digits
            else:
                shown = "of more than 64 bits"
            raise self.refuse(ProgramError(f"the integer {shown} is beyond what every JSON reader holds exactly"))
        return 0

    def _named(self, value: Any, makers: dict[str, None], word: str) -> Any:
        """The value with names in the place of handles."""
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            if members.keys() == HANDLE and members["operation"] in self.ids:
                if members["name"] is None:
                    message = f"'{word}' is given what a call returned that has no name to go on with"
                    raise self.refuse(ProgramError(message))
                makers[members["operation"]] = None
                return self._named(members["name"], makers, word)
            return {key: self._named(inner, makers, word) for key, inner in members.items()}
        if isinstance(value, list):
            return [self._named(inner, makers, word) for inner in cast("list[Any]", value)]
        return value

    def parameter(self, text: str) -> dict[str, Any]:
        name, default, choices, low, high, other = self._read(text)
        if other:
            message = f"param has no option '{other[0]}': it takes a name, a default, choices, min and max"
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
        if problem := _unfit(value, default, choices, low, high):
            self.refused_param = name
            raise self.refuse(ProgramError(f"the parameter '{name}' {problem}"))
        return {"value": float(value) if isinstance(default, float) else value}

    def unknown_params(self) -> list[tuple[str, list[str]]]:
        """Parameters that were given and never asked for, with the names that are near."""
        given = [name for name in self.params if name not in self.asked]
        return [(name, difflib.get_close_matches(name, self.asked, n=2)) for name in given]

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
