"""Operations that several cases share at their beginning, found from the plans before anything runs.

Every beginning of a plan has a hash over its operations in order. If several cases share a beginning and then differ, running it once can
save time; the worker processes decide whether it does (`prefix_store.py`).
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

# The number of operations at the beginning of a plan, and the hash over them.
Prefix = tuple[int, str]
# Number of cases that are compared at once. The next window finds the same prefixes again by their hashes.
WINDOW = 256
# Number of cases that are compared first. If none shares a beginning, evaluating all programs twice would be wasteful.
SAMPLE = 12
READING = frozenset({"read", "asset", "pictures"})


class Sharing:
    """The rules for sharing, based on the available tools and macros.

    Cases can share operations that write to the scene, up to the first operation that reads the scene or writes files."""

    def __init__(self, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> None:
        self._tools = tools
        self._macros = macros
        self._is_shareable = cache(self._judge)

    def hashes(self, plan: Plan) -> list[str]:
        """Return the hash of each shareable beginning of a plan, shortest first. The complete plan is not a beginning."""
        hashes: list[str] = []
        running = hashlib.sha256(plan.request_id.encode())
        for operation in plan.operations[:-1]:
            if not self._is_shareable(operation.tool):
                break
            running.update(_hashed_content(operation))
            hashes.append(running.hexdigest()[:32])
        return hashes

    def _judge(self, name: str) -> bool:
        """Return whether cases can share calls of a tool or macro."""
        if name in self._macros:
            return all(self._is_shareable(step.tool) for step in self._macros[name].document.steps)
        tool = self._tools.get(name)
        if tool is None:
            return False
        promises, roles = tool.promises, file_arguments(tool.args_model).values()
        writes_scene = promises.safety_level is not SafetyLevel.READ_ONLY and bool(promises.writes)
        return writes_scene and READING.issuperset(roles)


def _hashed_content(operation: Operation) -> bytes:
    content = [operation.id, operation.tool, operation.safety_level, list(operation.depends_on), dict(operation.args)]
    return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def shared_prefixes(hashes: Sequence[Sequence[str]]) -> list[tuple[Prefix, ...]]:
    """Return for each case the prefixes that it shares with another case, shortest first.

    A prefix is included only if at least one of the cases that share it continues differently."""
    counts = Counter(hash for case_hashes in hashes for hash in case_hashes)
    prefixes: list[tuple[Prefix, ...]] = []
    for case_hashes in hashes:
        shared: list[Prefix] = []
        for size, hash in enumerate(case_hashes, 1):
            if counts[hash] < 2:
                break
            following_count = 0
            if size < len(case_hashes):
                following_count = counts[case_hashes[size]]
            if following_count < counts[hash]:
                shared.append((size, hash))
        prefixes.append(tuple(shared))
    return prefixes


def jobs_with_prefixes(
    batch: str,
    cases: Iterable[Case],
    plan_of: Callable[[Case], Plan],
    sharing: Sharing,
    go_on: Callable[[], bool] = lambda: True,
) -> Iterator[Job]:
    """Yield a job for each case, in order. `go_on` returns whether sharing has saved time so far.

    A case whose program fails has no prefixes; its worker process reports the failure."""

    def hashes(case: Case) -> list[str]:
        try:
            return sharing.hashes(plan_of(case))
        except Refusal:
            return []

    remaining_cases = iter(cases)
    window = list(islice(remaining_cases, WINDOW))
    worthwhile = any(shared_prefixes([hashes(case) for case in _sample(window)]))
    while window:
        worthwhile = worthwhile and go_on()
        if worthwhile:
            window_prefixes = shared_prefixes([hashes(case) for case in window])
        else:
            window_prefixes = [()] * len(window)
        for case, prefixes in zip(window, window_prefixes, strict=True):
            yield Job(batch, case.key, prefixes)
        window = list(islice(remaining_cases, WINDOW))


def _sample(cases: Sequence[Case]) -> list[Case]:
    """Return the first cases, since neighbouring rows of a table are often similar, and some random later ones. Equal input gives an
    equal sample."""
    half = SAMPLE // 2
    later_cases: Sequence[Any] = cases[half:]
    chosen = random.Random(len(cases)).sample(later_cases, min(half, len(later_cases)))
    return [*cases[:half], *chosen]
