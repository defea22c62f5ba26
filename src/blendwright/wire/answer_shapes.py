"""The shape of what a worker answers. A worker that runs hostile files may say anything: what does not fit is not read any further.

On the way of every step, so it is written out by hand: about as long as reading its JSON takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from operator import itemgetter
from typing import Any

from blendwright.values.findings import Finding

TEXT, LIST, OBJECT, NONE = (str,), (list,), (dict,), (type(None),)
NUMBER = (float, int)
OPTIONAL_TEXT = TEXT + NONE

STEP: dict[str, tuple[type, ...]] = {
    "ok": (bool,),
    "fault": OPTIONAL_TEXT,
    "message": TEXT,
    "findings": LIST,
    "result": OBJECT + NONE,
    "changes": LIST,
    "before": TEXT,
    "after": TEXT,
    "reverted_by": OPTIONAL_TEXT,
    "artifacts": LIST,
    "plan_ms": NUMBER + NONE,
    "execute_ms": NUMBER + NONE,
    "verify_ms": NUMBER + NONE,
}
FIELDS = len(STEP)
IN_ORDER = itemgetter(*STEP)
# Every row of types that an answer can have: one look-up instead of a question for each field.
ROWS = frozenset(product(*STEP.values()))


def fits(method: str, result: Any) -> bool:
    """Whether this can be the result of a method; of methods that are not known here nothing is said."""
    shape = SHAPES.get(method)
    try:
        return shape is None or shape(result)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False


def _step(answer: Mapping[str, Any]) -> bool:
    if tuple(map(type, IN_ORDER(answer))) not in ROWS or len(answer) != FIELDS:
        return False
    findings, artifacts = answer["findings"], answer["artifacts"]
    # Whoever reads of a failure looks for its first finding, and keeps what has none.
    if answer["ok"] is bool(findings) or (findings and not all(map(_finding, findings))):
        return False
    return _changes(answer["changes"]) and (not artifacts or _texts(artifacts))


def _finding(data: Any) -> bool:
    finding = Finding.from_json(data)
    said = (finding.message, finding.pointer)
    return _texts([*said]) and all(type(value) in OPTIONAL_TEXT for value in (finding.cure, finding.rule))


def _texts(values: Any) -> bool:
    if values.__class__ is not list:
        return False
    "".join(values)  # the fastest way to ask whether all of them are texts: it raises where one is not
    return True


def _changes(values: Any) -> bool:
    """Kind, name and what became of it; of a membership the two names."""
    for change in values:
        if change.__class__ is not list or not 3 <= len(change) <= 4:
            return False
        "".join(change)
    return values.__class__ is list


def _records(values: Any) -> bool:
    """Objects of texts."""
    return values.__class__ is list and all(_texts(list(value.values())) for value in values)


def _hash(answer: Mapping[str, Any]) -> bool:
    return type(answer["hash"]) is str


SHAPES: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "scene.step": _step,
    "scene.reset": _hash,
    "scene.open": _hash,
    "scene.save": _hash,
    "scene.hash": _hash,
    "scene.resettle": _hash,
    "scene.export": lambda answer: _hash(answer) and _records(answer["cleaned"]),
    "scene.swap": lambda answer: _hash(answer) and _changes(answer["changes"]) and _records(answer["marks"]),
    "scene.externals": lambda answer: _records(answer["paths"]),
    "scene.marks": lambda answer: _records(answer["marks"]),
}
