"""Whether code did the same in two processes, and where it did not: in what it printed, or in the scene that it left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from blendwright.engine.scene.differences import compare, take_snapshot
from blendwright.records.results import Difference
from blendwright.values.errors import RebuildFailed
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.remote_scene import RemoteScene

MOST_NAMED = 5
LONGEST_VALUE = 200
CURE = (
    "Take random numbers from random or numpy.random, which start from seed, and do without what is another in every process "
    "(id, the order of objects in a set, process numbers); or demand no determinism, where the result need not be the same again."
)


def contradiction(how: str) -> Finding:
    message = f"the code was run twice, because determinism is demanded, and did not do the same: {how}"
    return Finding(Fault.NONDETERMINISTIC_REFUSED, message, "/code", CURE)


def output_difference(one: str, other: str) -> Finding | None:
    """The first line of what both printed that is not the same."""
    lines = zip_longest(one.splitlines(), other.splitlines())
    for number, (first, second) in enumerate(lines, 1):
        if first != second:
            return contradiction(f"line {number} of what it printed is {_shown(first)} once, and {_shown(second)} then")
    return None


def scene_difference(worker: RemoteScene, other: Callable[[], object], changes: Sequence[Sequence[str]]) -> Finding:
    """`worker` holds the one scene, `other` brings it the one before that; `changes` are what is known to differ already."""
    try:
        second = take_snapshot(worker)
        other()
        difference = compare(take_snapshot(worker), second)
    except RebuildFailed:
        difference = Difference((), (), (), unseen=True)  # no snapshot can be taken of what the code left
    named = list(_named(difference)) or [f"{kind} '{' / '.join(names)}' {change}" for kind, *names, change in changes]
    named = named or ["the scenes that it left have different hashes"]
    if len(named) > MOST_NAMED:
        more = f", and {len(named) - MOST_NAMED} more"
    else:
        more = ""
    return contradiction("; ".join(named[:MOST_NAMED]) + more)


def _named(difference: Difference) -> Iterator[str]:
    for entry in difference.changed:
        for change in entry.properties:
            values = f"is {_shown(change.old)} once, and {_shown(change.new)} then"
            yield f"{entry.kind} '{entry.name}': {change.property} {values}"
    for entry in (*difference.removed, *difference.created):
        yield f"{entry.kind} '{entry.name}' is there only once"


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    return repr(value)[:LONGEST_VALUE]
