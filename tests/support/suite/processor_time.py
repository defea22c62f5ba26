"""Where the processor time of the suite goes: `pytest --processor-time FILE`, with or without several processes.

A test is charged with what its process used meanwhile, and with all processes that ended in it. Wall-clock time says more about what
else the machine does.
"""

from __future__ import annotations

import resource
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

OUTSIDE = "outside of tests"
"""Collecting them, and whatever was started once and ends with the session."""


class ProcessorTime:
    """Seconds of each test, summed over the processes of pytest; FILE gets a line for each, the terminal the files that cost most."""

    def __init__(self, output: Path, workeroutput: dict[str, Any] | None) -> None:
        self._output = output
        self._workeroutput = workeroutput
        self._seconds = dict[str, float]()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        before = used()
        result = yield
        self._charge({item.nodeid: used() - before})
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)  # before that of xdist, which sends what is told
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        result = yield
        self._charge({OUTSIDE: used() - sum(self._seconds.values())})
        if self._workeroutput is not None:
            self._workeroutput["processor_time"] = dict(self._seconds)
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # What a process of pytest used itself is met again among the children of this one, which had no test.
        told: dict[str, float] = getattr(node, "workeroutput", {}).get("processor_time", {})
        self._charge({**told, OUTSIDE: told.get(OUTSIDE, 0.0) - sum(told.values())})

    def _charge(self, seconds: Mapping[str, float]) -> None:
        for test, used in seconds.items():
            self._seconds[test] = self._seconds.get(test, 0.0) + used

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = [f"{seconds:9.3f} {test}\n" for test, seconds in most(self._seconds)]
        self._output.write_text("".join(lines))
        files = dict[str, float]()
        for test, seconds in self._seconds.items():
            file = test.partition("::")[0]
            files[file] = files.get(file, 0.0) + seconds
        terminalreporter.section("processor time")
        terminalreporter.line(f"{sum(files.values()) / 60:.1f} minutes; by test in {self._output}")
        for file, seconds in most(files)[:40]:
            terminalreporter.line(f"{seconds:7.1f} s {file}")


def used() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def most(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(seconds.items(), key=lambda item: -item[1])
