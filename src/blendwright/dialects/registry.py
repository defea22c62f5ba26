"""The dialects that are known, and the way from outside to a plan and from a report to outside. Nobody else knows their names.

A new dialect is a file with a `Dialect` and a line here, or a call of `register` before anything is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from blendwright.dialects import geonodes, operations, program, steps
from blendwright.dialects.dialect import Dialect, Surroundings
from blendwright.schemas.json_reader import read_json
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import Boundary, Plan

if TYPE_CHECKING:
    from blendwright.values.report import RunReport

_DIALECTS: dict[str, Dialect] = {}


def register(dialect: Dialect) -> None:
    """Make a dialect known. Documents are offered to the dialects in the order in which they were registered."""
    if dialect.name in _DIALECTS:
        raise ValueError(f"there is a dialect named '{dialect.name}' already")
    _DIALECTS[dialect.name] = dialect


def unregister(name: str) -> None:
    del _DIALECTS[name]


register(operations.DIALECT)
register(geonodes.DIALECT)
register(steps.DIALECT)
register(program.DIALECT)


def dialects() -> tuple[Dialect, ...]:
    return tuple(_DIALECTS.values())


def names() -> tuple[str, ...]:
    return tuple(_DIALECTS)


def dialect(name: str) -> Dialect:
    return _DIALECTS[name]


def recognise(document: Any) -> Dialect | Finding:
    """The dialect that a document is in, read from its shape, or what was expected instead."""
    if isinstance(document, dict):
        keys = {key for key in cast("dict[Any, Any]", document) if isinstance(key, str)}
    else:
        keys = set[str]()
    for one in _DIALECTS.values():
        if one.recognises(keys):
            return one
    forms = [f"{one.form} ({one.name})" for one in _DIALECTS.values()]
    cure = f"Give an object with {', '.join(forms[:-1])}, or one with {forms[-1]}."
    return Finding(Fault.SCHEMA_INVALID, "this is none of the plans that are known here", "", cure)


def read_plan(
    text: bytes,
    *,
    dialect: str | None = None,
    request_id: str | None = None,
    boundary: Boundary | None = None,
    surroundings: Surroundings | None = None,
) -> Plan:
    """The plan, with findings of its own where it breaks its contract. Raises Refusal for what is no plan at all."""
    document, findings = read_json(text)
    if findings:
        raise Refusal(findings)
    plan = parse_plan(
        document, dialect=dialect, request_id=request_id, boundary=boundary, is_json=True, surroundings=surroundings
    )
    if plan.findings and not plan.operations:
        raise Refusal(plan.findings)
    return plan


def parse_plan(
    document: Any,
    *,
    dialect: str | None = None,
    request_id: str | None = None,
    boundary: Boundary | None = None,
    is_json: bool = False,
    surroundings: Surroundings | None = None,
) -> Plan:
    """The same for a document that is no text any more. `is_json`: the JSON reader has passed it already."""
    if dialect is not None:
        chosen = _DIALECTS[dialect]
    else:
        chosen = recognise(document)
    if isinstance(chosen, Finding):
        raise Refusal((chosen,))
    return chosen.parse(document, request_id=request_id, boundary=boundary, is_json=is_json, surroundings=surroundings)


def unread_plan(dialect: str | None = None) -> Plan:
    """What stands for a document that is no plan, or is not read yet: in the dialect that was asked for, else in the first one."""
    chosen = _DIALECTS[dialect or next(iter(_DIALECTS))]
    return Plan(chosen.name, "", (), chosen.tie_break, chosen.on_failure)


def render(report: RunReport) -> Any:
    """The report in the result contract of the plan's own dialect."""
    return _DIALECTS[report.dialect].render(report)
