"""Counts what one warm request crosses in the core: files, functions, and calls from one package to another.

  python scripts/trace_request.py            the counts of a one-operation `run` and of an MCP `plan_execute`
  python scripts/trace_request.py --walk     and the files in the order in which they are entered, with their functions

The `run` is the Python API's: the plan's bytes are read, run in an open workspace that has run one before, and rendered as
`run --json` prints them. `plan_execute` goes through the MCP SDK's own client and server in one process. All threads count.

What counts: every function or method of src/blendwright outside blender/ that is entered, properties and lambdas included.
Comprehensions and generator expressions belong to the function that they stand in. What dataclasses and pydantic generate has no
source file and does not count. A package switch is a call whose nearest caller in the core belongs to another top-level package.

Before the layout that docs/architecture.md describes, this printed 61 files, 220 functions and 72 switches for `run`, and 72 files, 254
functions and 87 switches for `plan_execute`; 270 and 310 functions, where each kind of comprehension counts as one of its own.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import orjson
from mcp.client.client import Client

import blendwright
from blendwright.dialects.registry import read_plan, render
from blendwright.server.serve import Settings, serving

SOURCE = str(Path(blendwright.__file__).parent)
INSIDE_BLENDER = str(Path(SOURCE, "blender"))
# Comprehensions and generator expressions are functions of their own to Python 3.11.
# Requests before the one that counts.
WARM = 2
PART = re.compile(r"(\.<locals>\.<(?:listcomp|dictcomp|setcomp|genexpr)>)+$")


class Trace:
    """What was entered while it was `on`, in the order of first entry. Must be there before the threads that it is to see."""

    def __init__(self) -> None:
        self.on = False
        self.functions: dict[tuple[str, str], int] = {}
        self.switches = 0
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)

    def _entered(self, frame: FrameType, event: str, _: Any) -> None:
        if not self.on or event != "call" or not _in_core(frame):
            return
        file = frame.f_code.co_filename
        function = PART.sub("", frame.f_code.co_qualname)
        if function == "<module>":
            return
        self.functions[file, function] = self.functions.get((file, function), 0) + 1
        caller = frame.f_back
        while caller is not None and not _in_core(caller):
            caller = caller.f_back
        if caller is not None and _package(caller.f_code.co_filename) != _package(file):
            self.switches += 1

    @contextmanager
    def watching(self) -> Generator[None]:
        self.functions = {}
        self.switches = 0
        self.on = True
        try:
            yield
        finally:
            self.on = False

    def keep_shortest(self, shortest: tuple[dict[tuple[str, str], int], int] | None) -> tuple[Any, int]:
        """This request or the shortest so far: what other threads do at the same time is no part of a request."""
        if shortest is None or len(self.functions) < len(shortest[0]):
            shortest = self.functions, self.switches
        self.functions, self.switches = shortest
        return shortest

    @property
    def files(self) -> dict[str, list[str]]:
        """The functions of each file, both in the order of first entry."""
        files: dict[str, list[str]] = {}
        for file, function in self.functions:
            files.setdefault(str(Path(file).relative_to(SOURCE)), []).append(function)
        return files


def _in_core(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(SOURCE) and not file.startswith(INSIDE_BLENDER)


def _package(file: str) -> str:
    return Path(file).relative_to(SOURCE).parts[0]


def plan(number: int) -> dict[str, Any]:
    args = {"kind": "cube", "name": f"Box{number}"}
    operation: dict[str, Any] = {"operation_id": "make", "tool_name": "mesh.create_primitive", "args": args, "depends_on": [],
                 "safety_level": "safe_write"}  # fmt: skip
    return {"request_id": f"trace{number}", "operations": [operation]}


def trace_run(trace: Trace) -> None:
    """A one-operation `run` on a workspace in which another one ran before."""
    with tempfile.TemporaryDirectory() as directory, blendwright.open(Path(directory, "w"), spare=False) as opened:
        for number in range(2):
            text = orjson.dumps(plan(number))
            with trace.watching():
                report = opened.run(read_plan(text))
                document = {
                    "dialect": report.dialect,
                    "ok": report.ok,
                    "result": render(report),
                    "report": report.to_json(),
                }
            assert document["ok"], document


def trace_plan_execute(trace: Trace) -> None:
    """The same as a call of the MCP server."""

    async def main() -> None:
        with tempfile.TemporaryDirectory() as directory:
            async with (
                serving(Settings(Path(directory, "w"), roots=(directory,))) as service,
                Client(service.server) as client,
            ):
                shortest = None
                for number in range(WARM + 4):
                    with trace.watching():
                        answer = await client.call_tool("plan_execute", {"plan": plan(number)})
                    assert not answer.is_error, answer
                    # A spare Blender that says hello meanwhile crosses the core too.
                    shortest = trace.keep_shortest(shortest) if number >= WARM else None

    anyio.run(main)


def counts(request: Callable[[Trace], None]) -> Trace:
    """A trace of the last time that `request` was watched."""
    trace = Trace()
    try:
        request(trace)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]
    return trace


def main() -> None:
    for name, request in (("run", trace_run), ("plan_execute", trace_plan_execute)):
        trace = counts(request)
        print(f"{name}: {len(trace.files)} files, {len(trace.functions)} functions, {trace.switches} package switches")
        if "--walk" in sys.argv[1:]:
            for file, functions in trace.files.items():
                print(f"  {file}: {', '.join(functions)}")


if __name__ == "__main__":
    main()
