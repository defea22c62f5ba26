"""The process in which programs are evaluated: `python -m blendwright.programs.evaluator`. Speaks frames on its standard streams.

A frame is four bytes of length and a JSON object. In: {"program": …}, or the answer to a load. Out: {"ready": true} once, {"load": path},
{"at": line}, or the result. The process has no files, limited memory and limited time; the core ends it when a program takes too long.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import starlark

from blendwright.programs import exact_math
from blendwright.programs.errors import cure_of, plain_message
from blendwright.programs.locations import PRELUDE, Syntax, read_error, with_markers
from blendwright.programs.recording import MAIN, LimitPassed, Limits, ProgramError, Recorder

LENGTH = struct.Struct(">I")
STEPS_PER_CHECK = 1000
# Read before the process gives up its right to open files.
PRELUDE_TEXT = Path(__file__).with_name("prelude.star").read_text(encoding="utf-8")
OWN_NAMES = ("math", "pad", "param", "print", "random", "round", "sum", "vec")
# What is no attribute in Starlark, being one of its reserved words.
RESERVED = frozenset({"import"})
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
        module = starlark.Module()
        calls: dict[str, Callable[..., Any]] = {
            "record": self._record,
            "record_nulls": lambda: self.current.record_nulls(),
            "refuse_infinite": self._refuse_infinite,
            "parameter": self._parameter,
            "printed": self._print,
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
        self.names = [*OWN_NAMES, *(noun for noun in nouns if noun.isidentifier() and noun not in OWN_NAMES), "at"]
        text = PRELUDE_TEXT + "\n_at = _marker\n"
        for noun, verbs in nouns.items():
            members = ", ".join(f'{_attribute(verb)} = _tool("{noun}.{verb}")' for verb in verbs)
            text += f"_{noun} = struct({members})\n" if noun.isidentifier() and noun not in OWN_NAMES else ""
        # Names with an underscore cannot be loaded; under these they can.
        text += "".join(f"public_{name} = _{name}\n" for name in self.names)
        starlark.eval(module, starlark.parse(PRELUDE, text, dialect()), prelude_globals())
        self._frozen = module.freeze()
        symbols = ", ".join(f'{"_at" if name == "at" else name}="public_{name}"' for name in self.names)
        self._import = f'load("{PRELUDE}", {symbols})'

    def _record(self, text: str) -> str:
        return self.current.record(text)

    def _refuse_infinite(self, shown: str) -> None:
        self.current.refuse_infinite(shown)

    def _parameter(self, text: str) -> dict[str, Any]:
        return self.current.parameter(text)

    def _print(self, text: str) -> None:
        self.current.print(text)

    def _mark(self, line: int) -> None:
        self.at(line)

    def new_module(self) -> starlark.Module:
        module = starlark.Module()
        loader = starlark.FileLoader(lambda name: self._frozen)
        starlark.eval(module, starlark.parse("<names>", self._import, dialect()), program_globals(), loader)
        return module


def _rounded(value: float, digits: int) -> float:
    return round(value, digits)


def _attribute(verb: str) -> str:
    return f"{verb}_" if verb in RESERVED else verb


class Evaluation:
    """One program. `ask_library` gives the text of a library file, or raises ProgramError."""

    def __init__(self, request: Mapping[str, Any], prelude: Prelude, ask_library: Callable[[str], str]) -> None:
        self.limits = Limits(**request["limits"])
        self.recorder = Recorder(request["params"], self.limits)
        self._text: str = request["program"]
        self._prelude = prelude
        self._ask_library = ask_library
        self._files: dict[str, tuple[str, str]] = {MAIN: (request["name"], self._text)}
        self._loaded: dict[str, starlark.FrozenModule] = {}
        self._loading: list[str] = []
        self._syntax: dict[str, Syntax] = {}
        self._checks = 0
        prelude.current = self.recorder

    def run(self, *, marked: bool = False) -> dict[str, Any]:
        try:
            self._evaluate(MAIN, with_markers(self._text) if marked else self._text, self._prelude.new_module())
            error = self._unknown_params()
        except starlark.StarlarkError as failure:
            error = self._error(str(failure))
        except BaseException as failure:
            # A panic of the interpreter is a BaseException, and its heap may be broken: the process is not used again.
            if isinstance(failure, (KeyboardInterrupt, SystemExit)):
                raise
            return {"broken": True}
        sites, operations = self._operations() if error is None else ([], [])
        return {
            "broken": False,
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
        # The value of the last statement is made JSON of, which not every value can be.
        parsed = starlark.parse(label, f"{text}\nNone\n", dialect())
        starlark.eval_with(options, module, parsed, program_globals(), file_loader=starlark.FileLoader(self._load))

    def _cancelled(self) -> bool:
        self._checks += 1
        return self._checks * STEPS_PER_CHECK > self.limits.steps

    def _load(self, path: str) -> starlark.FrozenModule:
        if path in self._loading:
            raise ProgramError(f"'{path}' loads itself: {' → '.join([*self._loading, path])}")
        if path in self._loaded:
            return self._loaded[path]
        if len(self._files) > self.limits.libraries:
            raise LimitPassed(f"the program loads more than {self.limits.libraries} files")
        text = self._ask_library(path)
        label = f"<{len(self._files)}>"
        self._files[label] = (path, text)
        self._loading.append(path)
        module = self._prelude.new_module()
        self._evaluate(label, text, module)
        self._loading.pop()
        self._loaded[path] = module.freeze()
        return self._loaded[path]

    def _error(self, text: str) -> dict[str, Any]:
        place = read_error(text)
        finding = self._finding(place.message, place.label, place.line, place.column)
        finding["called_from"] = [[self._name(label), line] for label, line in place.frames if line != place.line][:3]
        return finding

    def _finding(self, message: str, label: str, line: int, column: int | None) -> dict[str, Any]:
        lines = self._files[label][1].count("\n") + 1
        if line > lines:  # in what was put behind the program
            line, column = lines, None
        if column is None:
            syntax = self._syntax_of(label)
            column = syntax.call(line, "").column
        limits = {
            "Evaluation cancelled": f"the program takes more than {self.limits.steps:,} steps",
            "Starlark call stack overflow": f"calls go deeper than {self.limits.call_depth} levels",
        }
        limit = next((said for sign, said in limits.items() if sign in message), None)
        return {
            "message": limit or plain_message(message),
            "cure": cure_of(message),
            "file": self._name(label),
            "line": line,
            "column": column,
            "limit": limit is not None or message.startswith("LimitPassed: "),
            "param": self.recorder.refused_param,
        }

    def _unknown_params(self) -> dict[str, Any] | None:
        for name, near in self.recorder.unknown_params():
            has = ", ".join(f"'{one}'" for one in self.recorder.asked)
            cure = f"Did you mean '{near[0]}'?" if near else f"It has {has}." if has else "It has none."
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


def main() -> None:
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # what the interpreter says when it panics is for nobody
        os.dup2(quiet, stream)
    preludes: dict[tuple[str, ...], Prelude] = {}
    limited = False

    def send(message: Mapping[str, Any]) -> None:
        body = orjson.dumps(message)
        writer.write(LENGTH.pack(len(body)) + body)
        writer.flush()

    def receive() -> dict[str, Any]:
        head = reader.read(LENGTH.size)
        if len(head) < LENGTH.size:
            sys.exit(0)
        return orjson.loads(reader.read(LENGTH.unpack(head)[0]))

    def ask_library(path: str) -> str:
        send({"load": path})
        answer = receive()
        if "text" not in answer:
            raise ProgramError(str(answer["refused"]))
        return str(answer["text"])

    send({"ready": True})
    while True:
        request = receive()
        tools = tuple(request["tools"])
        if tools not in preludes:
            preludes.clear()
            preludes[tools] = Prelude(tools)
        prelude = preludes[tools]
        if not limited:
            _limit(request["limits"]["memory_mb"])
            limited = True
        prelude.at = lambda line: send({"at": line})
        evaluation = Evaluation(request, prelude, ask_library)
        send(evaluation.run(marked=request["marked"]))


def _limit(memory_mb: int) -> None:
    """Memory on top of what the process has, and no files. Where the system has no such limits, steps and time remain."""
    if sys.platform == "win32":
        return
    import resource

    if sys.platform == "linux":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = used + (memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


if __name__ == "__main__":
    main()
