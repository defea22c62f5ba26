"""Registry of the dialects: recognises and reads documents, and renders reports.

Only this module knows the names of dialects.

To add a dialect, write a file with a `Dialect` and register it here, or call `register` before anything is read.
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
    """Add a dialect. `recognise` tries the dialects in the order of their registration."""
    if dialect.name in _DIALECTS:
        raise ValueError(f"a dialect named '{dialect.name}' already exists")
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
    """Return the dialect that the document's keys belong to, or a finding that lists the known forms."""
    keys: set[str] = set()
    if isinstance(document, dict):
        keys = {key for key in cast("dict[Any, Any]", document) if isinstance(key, str)}

    forms: list[str] = []
    for candidate in _DIALECTS.values():
        if candidate.recognises(keys):
            return candidate
        forms.append(f"{candidate.form} ({candidate.name})")
    cure = f"Give an object with {', '.join(forms[:-1])}, or one with {forms[-1]}."
    return Finding(Fault.SCHEMA_INVALID, "this document is not a plan of any known dialect", "", cure)


def read_plan(
    text: bytes,
    *,
    dialect: str | None = None,
    request_id: str | None = None,
    boundary: Boundary | None = None,
    surroundings: Surroundings | None = None,
) -> Plan:
    """Return the plan of a text, with findings if it breaks its contract. Raise Refusal if the text is not a plan."""
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
    """Return the plan of a parsed document. Raise Refusal if it is not a plan.

    `is_json` means that the JSON reader has already checked the document.
    """
    if dialect is not None:
        chosen = _DIALECTS[dialect]
    else:
        chosen = recognise(document)
    if isinstance(chosen, Finding):
        raise Refusal((chosen,))
    return chosen.parse(document, request_id=request_id, boundary=boundary, is_json=is_json, surroundings=surroundings)


def unread_plan(dialect: str | None = None) -> Plan:
    """Return an empty plan that represents a document which is unread or not a plan.

    Its dialect is the given one, or else the first registered one.
    """
    chosen = _DIALECTS[dialect or next(iter(_DIALECTS))]
    return Plan(chosen.name, "", (), chosen.tie_break, chosen.on_failure)


def render(report: RunReport) -> Any:
    """Render the report in the result contract of its plan's dialect."""
    return _DIALECTS[report.dialect].render(report)
