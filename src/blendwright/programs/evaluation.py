"""The evaluation of one program, and the names that programs find in place. Runs in the evaluator's process."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import starlark

from blendwright.programs import exact_math
from blendwright.programs.errors import cure_of, cure_of_refusal, cure_of_unknown_member, plain_message
from blendwright.programs.locations import PRELUDE, Syntax, read_error, with_markers
from blendwright.programs.recording import MAIN, LimitPassed, Limits, ProgramError, Recorder

STEPS_PER_CHECK = 1000
# Looking at the memory costs as much as thousands of steps.
SECONDS_PER_LOOK = 0.02
# Of the memory that a program may take: above this it is ended with its line, before the system ends its process; and above this the
# process is not used again, since what it grew by would be missing for the next program.
FULL, WORN = 0.85, 0.25
# Read before the process gives up its right to open files.
PRELUDE_TEXT = Path(__file__).with_name("prelude.star").read_text(encoding="utf-8")
OWN_NAMES = ("fail", "math", "pad", "param", "print", "random", "round", "sum", "vec")
# What is no attribute in Starlark, being one of its reserved words.
RESERVED = frozenset({"import", "load"})
EXTENSIONS = starlark.LibraryExtension


def dialect() -> starlark.Dialect:
    chosen = starlark.Dialect.extended()
    chosen.enable_top_level_stmt = True
    chosen.enable_f_strings = True
    return chosen


LIBRARY = [EXTENSIONS.StructType, EXTENSIONS.Map, EXTENSIONS.Filter, EXTENSIONS.Partial, EXTENSIONS.Json]


def program_globals() -> starlark.Globals:
    return starlark.Globals.extended_by(LIBRARY)


def prelude_globals() -> starlark.Globals:
    """Only the prelude sees the stack: a program is to mean the same wherever its lines stand."""
    return starlark.Globals.extended_by([*LIBRARY, EXTENSIONS.CallStack])


class Prelude:
    """The names that programs find in place, for one list of tools. `current` is the recorder of the program that runs."""

    def __init__(self, tools: tuple[str, ...]) -> None:
        self.current: Recorder = Recorder({}, Limits())
        self.at: Callable[[int], None] = lambda line: None
        # No program knows it.
        self.tell = f"_{secrets.token_hex(16)}"
        module = starlark.Module()
        calls: dict[str, Callable[..., Any]] = {
            "record": self._record,
            "record_nulls": lambda: self.current.record_nulls(),
            "refuse_infinite": self._refuse_infinite,
            "parameter": self._parameter,
            "printed": self._print,
            "failed": self._fail,
            "refused": self._refuse,
            "rounded": _rounded,
            "marker": self._mark,
            **exact_math.FUNCTIONS,
        }
        for name, function in calls.items():
            module.add_callable(f"_{name}", function)
        nouns: dict[str, list[str]] = {}
        for tool in tools:
            noun, _, verb = tool.partition(".")
            nouns.setdefault(noun, []).append(verb)
        self.members: dict[str, list[str]] = {noun: _members(noun) for noun in ("math", "vec")} | nouns
        self.names = [*OWN_NAMES, *(noun for noun in nouns if noun.isidentifier() and noun not in OWN_NAMES)]
        text = PRELUDE_TEXT
        for noun, verbs in nouns.items():
            members = ", ".join(f'{_attribute(verb)} = _tool("{noun}.{verb}")' for verb in verbs)
            text += f"_{noun} = struct({members})\n" if noun.isidentifier() and noun not in OWN_NAMES else ""
        # Names with an underscore cannot be loaded; under these they can.
        text += "".join(f"public_{name} = _{name}\n" for name in [*self.names, "marker"])
        starlark.eval(module, starlark.parse(PRELUDE, text, dialect()), prelude_globals())
        self._frozen = module.freeze()
        symbols = ", ".join([f'{name}="public_{name}"' for name in self.names] + [f'{self.tell}="public_marker"'])
        self._import = f'load("{PRELUDE}", {symbols})'

    def _record(self, text: str) -> str:
        return self.current.record(text)

    def _refuse_infinite(self, shown: str) -> None:
        self.current.refuse_infinite(shown)

    def _parameter(self, text: str) -> dict[str, Any]:
        return self.current.parameter(text)

    def _print(self, text: str) -> None:
        self.current.print(text)

    def _fail(self, text: str) -> None:
        self.current.fail(text)

    def _refuse(self, text: str) -> None:
        raise self.current.refuse(ProgramError(text))

    def _mark(self, line: int) -> None:
        self.at(line)

    def new_module(self) -> starlark.Module:
        module = starlark.Module()
        loader = starlark.FileLoader(lambda name: self._frozen)
        starlark.eval(module, starlark.parse("<names>", self._import, dialect()), program_globals(), loader)
        return module


def _rounded(value: float, digits: int) -> float:
    return round(value, digits)


def _members(name: str) -> list[str]:
    """The functions of one of the prelude's own structs."""
    body = PRELUDE_TEXT.partition(f"\n_{name} = struct(\n")[2].partition("\n)")[0]
    return re.findall(r"^    (\w+) = ", body, re.MULTILINE)


def _attribute(verb: str) -> str:
    if verb in RESERVED:
        return f"{verb}_"
    return verb


class Evaluation:
    """One program. `ask_library` gives the text of a library file, or raises ProgramError; `memory` tells how much of what it may take
    is taken."""

    def __init__(
        self,
        request: Mapping[str, Any],
        prelude: Prelude,
        ask_library: Callable[[str], str],
        memory: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.limits = Limits(**request["limits"])
        self.recorder = Recorder(request["params"], self.limits)
        self._text: str = request["program"]
        self._prelude = prelude
        self._ask_library = ask_library
        self._memory = memory
        self._files: dict[str, tuple[str, str]] = {MAIN: (request["name"], self._text)}
        self._loaded: dict[str, starlark.FrozenModule] = {}
        self._loading: list[str] = []
        self._syntax: dict[str, Syntax] = {}
        self._checks = 0
        self._looked = time.monotonic()
        self._ends = self._looked + self.limits.seconds
        self._limit: str | None = None
        self._error_in_library: dict[str, Any] | None = None
        prelude.current = self.recorder

    def run(self) -> dict[str, Any]:
        try:
            self._evaluate(MAIN, self._text, self._prelude.new_module())
            error = self._unknown_params()
        except starlark.StarlarkError as failure:
            error = self._error_in_library or self._error(str(failure))
        except BaseException as failure:
            # A panic of the interpreter is a BaseException, and its heap may be broken: the process is not used again.
            if isinstance(failure, (KeyboardInterrupt, SystemExit)):
                raise
            return {"broken": True}
        sites, operations = self._operations() if error is None else ([], [])
        return {
            "broken": False,
            "worn": self._memory() > WORN,
            "error": error,
            "operations": operations,
            "sites": sites,
            "printed": "\n".join(self.recorder.printed),
            "asked": self.recorder.asked,
            "libraries": {name: text for label, (name, text) in self._files.items() if label != MAIN},
        }

    def _evaluate(self, label: str, text: str, module: starlark.Module) -> None:
        options = starlark.EvalOptions(check_cancelled=self._cancelled, max_callstack_size=self.limits.call_depth)
        starlark.parse(label, text, dialect())  # by itself first, so that its errors are its own
        if label == MAIN:
            statements = self._syntax_of(label).statements()
        else:
            statements = {}
        if statements:
            text, self.recorder.lines = with_markers(text, statements, self._prelude.tell)
        # The value of the last statement is made JSON of, which not every value can be.
        parsed = starlark.parse(label, f"{text}\nNone\n", dialect())
        starlark.eval_with(options, module, parsed, program_globals(), file_loader=starlark.FileLoader(self._load))

    def _cancelled(self) -> bool:
        """Whether the program is to be ended at this step, for the limit that is noted."""
        self._checks += 1
        now = time.monotonic()
        if self._checks * STEPS_PER_CHECK > self.limits.steps:
            self._limit = f"the program takes more than {self.limits.steps:,} steps"
        elif now > self._ends:
            self._limit = f"the program takes more than {self.limits.seconds:g} seconds"
        elif now > self._looked + SECONDS_PER_LOOK:
            self._looked = now
            if self._memory() > FULL:
                self._limit = f"the program needs more than {self.limits.memory_mb} MB of memory"
        return self._limit is not None

    def _load(self, path: str) -> starlark.FrozenModule:
        if path in self._loading:
            message = f"'{path}' loads itself: {' → '.join([*self._loading, path])}"
            raise self.recorder.refuse(ProgramError(message))
        if path in self._loaded:
            return self._loaded[path]
        if len(self._files) > self.limits.libraries:
            raise self.recorder.refuse(LimitPassed(f"the program loads more than {self.limits.libraries} files"))
        try:
            text = self._ask_library(path)
        except ProgramError as refused:
            raise self.recorder.refuse(refused) from None
        label = f"<{len(self._files)}>"
        self._files[label] = (path, text)
        self._loading.append(path)
        module = self._prelude.new_module()
        try:
            self._evaluate(label, text, module)
        except starlark.StarlarkError as failure:
            # Told where it arose: to whoever loads the file Starlark tells it as an exception of ours.
            self._error_in_library = self._error_in_library or self._error(str(failure))
            raise
        self._loading.pop()
        self._loaded[path] = module.freeze()
        return self._loaded[path]

    def _error(self, text: str) -> dict[str, Any]:
        place = read_error(text, self.recorder)
        label, line, column = place.label, place.line, place.column
        if label not in self._files:
            label, line, column = MAIN, 1, None
        finding = self._finding(place.message, label, line, column)
        frames = [(label, line) for label, line in place.frames if label in self._files and line != place.line]
        finding["called_from"] = [[self._name(label), line] for label, line in frames][:3]
        return finding

    def _finding(self, message: str, label: str, line: int, column: int | None) -> dict[str, Any]:
        lines = self._files[label][1].count("\n") + 1
        if line > lines:  # in what was put behind the program
            line, column = lines, None
        if column is None:
            syntax = self._syntax_of(label)
            column = syntax.call(line, "").column
        limit, refused = self._limit, self.recorder.refused
        if limit is None and message.startswith("Starlark call stack overflow"):
            limit = f"calls go deeper than {self.limits.call_depth} levels"
        if limit is not None:
            said, cure = limit, "Let it do less, or split it into several programs."
        elif refused is not None:
            said, cure = str(refused)[:500] or "the program fails", cure_of_refusal(refused)
        else:
            written = self._files[label][1].split("\n")[line - 1]
            near = cure_of_unknown_member(message, written, column, self._prelude.members)
            said, cure = plain_message(message), near or cure_of(message)
        return {
            "message": said,
            "cure": cure,
            "file": self._name(label),
            "line": line,
            "column": column,
            "limit": limit is not None or isinstance(refused, LimitPassed),
            "param": self.recorder.refused_param,
        }

    def _unknown_params(self) -> dict[str, Any] | None:
        for name, near in self.recorder.unknown_params():
            has = ", ".join(f"'{one}'" for one in self.recorder.asked)
            if near:
                cure = f"Did you mean '{near[0]}'?"
            elif has:
                cure = f"It has {has}."
            else:
                cure = "It has none."
            cure += ' For seeds a program needs one: seed = param("seed", 0)' if name == "seed" else ""
            self.recorder.refused_param = name
            return self._finding(f"the program has no parameter '{name[:60]}'", MAIN, 1, 1) | {"cure": cure}
        return None

    def _operations(self) -> tuple[list[Any], list[Any]]:
        """The places of calls, and the operations with the number of theirs."""
        sites: dict[tuple[Any, ...], int] = {}
        listed: list[Any] = []
        operations: list[Any] = []
        for one in self.recorder.operations:
            key = (one.tool, *one.frames)
            if key not in sites:
                sites[key] = len(listed)
                (label, line), callers = one.frames[0], one.frames[1:]
                site = self._syntax_of(label).call(line, one.tool)
                calling = [[self._name(label), line] for label, line in callers]
                listed.append([self._name(label), site.line, site.column, site.arguments, calling])
            operations.append([one.id, one.tool, one.arguments, one.depends_on, sites[key]])
        return listed, operations

    def _syntax_of(self, label: str) -> Syntax:
        if label not in self._syntax:
            self._syntax[label] = Syntax(self._files[label][1])
        return self._syntax[label]

    def _name(self, label: str) -> str:
        return self._files[label][0]
