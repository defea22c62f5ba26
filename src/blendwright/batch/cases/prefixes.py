"""Which cases begin with the same operations: found from the plans that their programs yield, before anything runs.

Every beginning of a plan has a hash that follows from its operations in their order. Where several cases have one in common and then part,
it is worth being done once; the lanes decide whether it is (`prefix_store.py`).
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.engines.engine import Job
from blendwright.macros import Macro
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.values.errors import Refusal
from blendwright.values.plan import Operation, Plan

# How many operations there are, and the hash of all of them.
Prefix = tuple[int, str]
# Cases that are compared with each other at once: what they have in common is found again by its hash in the next ones.
WINDOW = 256
# Cases that are looked at before all are: where none of them begins like another, evaluating every program twice is no use.
SAMPLE = 12
READING = frozenset({"read", "asset", "pictures"})


class Sharing:
    """What of a plan can be shared, by the tools and macros that there are: writes to the scene, up to the first operation that reads it,
    or writes files."""

    def __init__(self, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> None:
        self._tools = tools
        self._macros = macros
        self._is_shareable = cache(self._judge)

    def hashes(self, plan: Plan) -> list[str]:
        """Of each beginning of the plan, shortest first; the whole plan is none."""
        found: list[str] = []
        running = hashlib.sha256(plan.request_id.encode())
        for operation in plan.operations[:-1]:
            if not self._is_shareable(operation.tool):
                break
            running.update(_essence(operation))
            found.append(running.hexdigest()[:32])
        return found

    def _judge(self, name: str) -> bool:
        if name in self._macros:
            return all(self._is_shareable(step.tool) for step in self._macros[name].document.steps)
        tool = self._tools.get(name)
        if tool is None:
            return False
        promises, roles = tool.promises, file_arguments(tool.args_model).values()
        return (
            promises.safety_level is not SafetyLevel.READ_ONLY and bool(promises.writes) and READING.issuperset(roles)
        )


def _essence(operation: Operation) -> bytes:
    essence = [operation.id, operation.tool, operation.safety_level, list(operation.depends_on), dict(operation.args)]
    return orjson.dumps(essence, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def shared_prefixes(hashes: Sequence[Sequence[str]]) -> list[tuple[Prefix, ...]]:
    """For each case the beginnings that it shares with another one, where those that share it part, shortest first."""
    counts = Counter(hash for each in hashes for hash in each)
    found: list[tuple[Prefix, ...]] = []
    for each in hashes:
        shared: list[Prefix] = []
        for size, hash in enumerate(each, 1):
            if counts[hash] < 2:
                break
            if size < len(each):
                following = counts[each[size]]
            else:
                following = 0
            if following < counts[hash]:
                shared.append((size, hash))
        found.append(tuple(shared))
    return found


def jobs_with_prefixes(
    batch: str,
    cases: Iterable[Case],
    plan_of: Callable[[Case], Plan],
    sharing: Sharing,
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Job]:
    """A job for each case, in their order. A program that cannot be evaluated shares nothing: its lane says what is wrong. `go_on` says
    whether what was found so far is of any use."""

    def hashes(case: Case) -> list[str]:
        try:
            return sharing.hashes(plan_of(case))
        except Refusal:
            return []

    reading = iter(cases)
    first = list(islice(reading, WINDOW))
    worthwhile = any(shared_prefixes([hashes(case) for case in _sample(first)]))
    window = first
    while window:
        worthwhile = worthwhile and go_on()
        if worthwhile:
            found = shared_prefixes([hashes(case) for case in window])
        else:
            found = [()] * len(window)
        for case, prefixes in zip(window, found, strict=True):
            yield Job(batch, case.key, prefixes)
        window = list(islice(reading, WINDOW))


def _sample(cases: Sequence[Case]) -> list[Case]:
    """Neighbours, which rows of a table often resemble, and some from anywhere; the same for the same cases."""
    half = SAMPLE // 2
    rest: Sequence[Any] = cases[half:]
    others = random.Random(len(cases)).sample(rest, min(half, len(rest)))
    return [*cases[:half], *others]
