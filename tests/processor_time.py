"""Where the processor time of the suite goes: `pytest --processor-time FILE`, with or without several processes.

A test is charged with what its process used meanwhile, and with all processes that ended in it. Wall-clock time says more about what
else the machine does.
"""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator
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
        self._seconds = Counter[str]()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = used()
        result = yield
        self._seconds[item.nodeid] += used() - before
        return result

    @pytest.hookimpl(wrapper=True, trylast=True)  # before that of xdist, which sends what is told
    def pytest_sessionfinish(self) -> Iterator[None]:
        result = yield
        self._seconds[OUTSIDE] += used() - sum(self._seconds.values())
        if self._workeroutput is not None:
            self._workeroutput["processor_time"] = dict(self._seconds)
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # What a process of pytest used itself is met again among the children of this one, which had no test.
        told: dict[str, float] = getattr(node, "workeroutput", {}).get("processor_time", {})
        self._seconds.update(told)
        self._seconds[OUTSIDE] -= sum(told.values())

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = [f"{seconds:9.3f} {test}\n" for test, seconds in self._seconds.most_common()]
        self._output.write_text("".join(lines))
        files = Counter[str]()
        for test, seconds in self._seconds.items():
            files[test.partition("::")[0]] += seconds
        terminalreporter.section("processor time")
        terminalreporter.line(f"{sum(files.values()) / 60:.1f} minutes; by test in {self._output}")
        for file, seconds in files.most_common(40):
            terminalreporter.line(f"{seconds:7.1f} s {file}")


def used() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
