"""Evaluation of one program, and the predefined names of programs. This module runs in the evaluator's process."""

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
# Seconds between checks of the memory; one check costs as much as thousands of steps.
SECONDS_PER_LOOK = 0.02
# Fractions of a program's memory limit. Above FULL, the evaluation ends with the current line, before the system kills the
# process. Above WORN, the process is not used again, because the next program would lack that memory.
FULL, WORN = 0.85, 0.25
# The text is read before the process gives up its right to open files.
PRELUDE_TEXT = Path(__file__).with_name("prelude.star").read_text(encoding="utf-8")
OWN_NAMES = ("fail", "math", "pad", "param", "print", "random", "round", "sum", "vec")
# Reserved words of Starlark, which cannot be attributes.
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
    """Return the globals of the prelude.

    Only the prelude sees the call stack, so that a program's meaning does not depend on its lines.
    """
    return starlark.Globals.extended_by([*LIBRARY, EXTENSIONS.CallStack])


class Prelude:
    """The predefined names of programs for one list of tools. `current` is the recorder of the running program."""

    def __init__(self, tools: tuple[str, ...]) -> None:
        self.current: Recorder = Recorder({}, Limits())
        self.at: Callable[[int], None] = lambda line: None
        # A random name that no program can know.
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
            if noun.isidentifier() and noun not in OWN_NAMES:
                members = ", ".join(f'{_attribute(verb)} = _tool("{noun}.{verb}")' for verb in verbs)
                text += f"_{noun} = struct({members})\n"
        # Starlark does not load names with an underscore, so each gets a public alias.
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
    """Return the function names of a struct in the prelude."""
    body = PRELUDE_TEXT.partition(f"\n_{name} = struct(\n")[2].partition("\n)")[0]
    return re.findall(r"^    (\w+) = ", body, re.MULTILINE)


def _attribute(verb: str) -> str:
    if verb in RESERVED:
        return f"{verb}_"
    return verb


class Evaluation:
    """The evaluation of one program.

    `ask_library` returns the text of a library file, or raises ProgramError. `memory` returns the used fraction of the
    memory limit.
    """

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
            # A panic of the interpreter is a BaseException. Its heap may be broken, so the process is not used again.
            if isinstance(failure, (KeyboardInterrupt, SystemExit)):
                raise
            return {"broken": True}
        sites: list[Any] = []
        operations: list[Any] = []
        if error is None:
            sites, operations = self._operations()
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
        starlark.parse(label, text, dialect())  # first without markers, so that errors refer to the author's text
        statements: dict[int, str] = {}
        if label == MAIN:
            statements = self._syntax_of(label).statements()
        if statements:
            text, self.recorder.lines = with_markers(text, statements, self._prelude.tell)
        # Starlark converts the value of the last statement to JSON, which fails for some values.
        parsed = starlark.parse(label, f"{text}\nNone\n", dialect())
        starlark.eval_with(options, module, parsed, program_globals(), file_loader=starlark.FileLoader(self._load))

    def _cancelled(self) -> bool:
        """Return True if the program has passed a limit, and record which one."""
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
            # Keep the error with its location in the library. The loading file only gets a general exception for it.
            self._error_in_library = self._error_in_library or self._error(str(failure))
            raise
        self._loading.pop()
        self._loaded[path] = module.freeze()
        return self._loaded[path]

    def _error(self, text: str) -> dict[str, Any]:
        location = read_error(text, self.recorder)
        label, line, column = location.label, location.line, location.column
        if label not in self._files:
            label, line, column = MAIN, 1, None
        finding = self._finding(location.message, label, line, column)

        callers: list[list[Any]] = []
        for frame_label, frame_line in location.frames:
            if frame_label in self._files and frame_line != location.line:
                callers.append([self._name(frame_label), frame_line])
        finding["called_from"] = callers[:3]
        return finding

    def _finding(self, message: str, label: str, line: int, column: int | None) -> dict[str, Any]:
        lines = self._files[label][1].count("\n") + 1
        if line > lines:  # in the text that Blendwright appended to the program
            line, column = lines, None
        if column is None:
            syntax = self._syntax_of(label)
            column = syntax.call(line, "").column
        limit, refused = self._limit, self.recorder.refused
        if limit is None and message.startswith("Starlark call stack overflow"):
            limit = f"calls go deeper than {self.limits.call_depth} levels"
        if limit is not None:
            text, cure = limit, "Let it do less, or split it into several programs."
        elif refused is not None:
            text, cure = str(refused)[:500] or "the program fails", cure_of_refusal(refused)
        else:
            written = self._files[label][1].split("\n")[line - 1]
            near = cure_of_unknown_member(message, written, column, self._prelude.members)
            text, cure = plain_message(message), near or cure_of(message)
        return {
            "message": text,
            "cure": cure,
            "file": self._name(label),
            "line": line,
            "column": column,
            "limit": limit is not None or isinstance(refused, LimitPassed),
            "param": self.recorder.refused_param,
        }

    def _unknown_params(self) -> dict[str, Any] | None:
        for name, near in self.recorder.unknown_params():
            names = ", ".join(f"'{asked_name}'" for asked_name in self.recorder.asked)
            if near:
                cure = f"Did you mean '{near[0]}'?"
            elif names:
                cure = f"It has {names}."
            else:
                cure = "It has none."
            if name == "seed":
                cure += ' For seeds a program needs one: seed = param("seed", 0)'
            self.recorder.refused_param = name
            return self._finding(f"the program has no parameter '{name[:60]}'", MAIN, 1, 1) | {"cure": cure}
        return None

    def _operations(self) -> tuple[list[Any], list[Any]]:
        """Return the call sites, and the operations, each with the index of its site."""
        indexes: dict[tuple[Any, ...], int] = {}
        sites: list[Any] = []
        operations: list[Any] = []
        for operation in self.recorder.operations:
            key = (operation.tool, *operation.frames)
            if key not in indexes:
                indexes[key] = len(sites)
                (label, line), callers = operation.frames[0], operation.frames[1:]
                site = self._syntax_of(label).call(line, operation.tool)
                caller_lines = [[self._name(label), line] for label, line in callers]
                sites.append([self._name(label), site.line, site.column, site.arguments, caller_lines])
            operations.append([operation.id, operation.tool, operation.arguments, operation.depends_on, indexes[key]])
        return sites, operations

    def _syntax_of(self, label: str) -> Syntax:
        if label not in self._syntax:
            self._syntax[label] = Syntax(self._files[label][1])
        return self._syntax[label]

    def _name(self, label: str) -> str:
        return self._files[label][0]
