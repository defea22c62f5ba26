"""Comparison of two runs of the same code: its printed output, and the scene that it left."""

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

MAX_NAMED_DIFFERENCES = 5
MAX_VALUE_CHARACTERS = 200
CURE = (
    "Take random numbers from random or numpy.random, which start from seed. Avoid values that differ between processes "
    "(id, the order of objects in a set, process numbers). Or do not demand determinism, if the result may differ next time."
)


def contradiction(how: str) -> Finding:
    """Return the finding for code whose two runs differ. `how` describes the difference."""
    message = f"determinism is demanded, so the code ran twice, and the two runs differ: {how}"
    return Finding(Fault.NONDETERMINISTIC_REFUSED, message, "/code", CURE)


def output_difference(first_output: str, second_output: str) -> Finding | None:
    """Return a finding about the first different line of two outputs, or None when they are equal."""
    lines = zip_longest(first_output.splitlines(), second_output.splitlines())
    for number, (first, second) in enumerate(lines, 1):
        if first != second:
            return contradiction(f"line {number} of the output is first {_shown(first)}, then {_shown(second)}")
    return None


def scene_difference(worker: RemoteScene, other: Callable[[], object], changes: Sequence[Sequence[str]]) -> Finding:
    """Return the finding about two different scenes of the same code.

    `worker` holds the second scene; `other` loads the first scene into it. `changes` are known differences, for
    scenes without snapshots.
    """
    try:
        second = take_snapshot(worker)
        other()
        difference = compare(take_snapshot(worker), second)
    except RebuildFailed:
        difference = Difference((), (), (), unseen=True)  # the scene of the code allows no snapshot

    texts = list(_descriptions(difference))
    if not texts:
        texts = [f"{kind} '{' / '.join(names)}' {change}" for kind, *names, change in changes]
    if not texts:
        texts = ["the scenes have different hashes"]

    text = "; ".join(texts[:MAX_NAMED_DIFFERENCES])
    if len(texts) > MAX_NAMED_DIFFERENCES:
        text += f", and {len(texts) - MAX_NAMED_DIFFERENCES} more"
    return contradiction(text)


def _descriptions(difference: Difference) -> Iterator[str]:
    for entry in difference.changed:
        for change in entry.properties:
            values = f"is first {_shown(change.old)}, then {_shown(change.new)}"
            yield f"{entry.kind} '{entry.name}': {change.property} {values}"
    for entry in (*difference.removed, *difference.created):
        yield f"{entry.kind} '{entry.name}' exists after only one of the runs"


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    return repr(value)[:MAX_VALUE_CHARACTERS]
