"""Plans from outside and results for outside: which dialect reads a document, and which one renders a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from blendwright.dialects import geonodes, operations, steps
from blendwright.dialects.recognise import Dialect, recognise
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.json_reader import read_json
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport


class Parse(Protocol):
    def __call__(self, document: Any, *, request_id: str | None = None, boundary: Boundary = "operation") -> Plan: ...


@dataclass(frozen=True, slots=True)
class Format:
    """One dialect, in both directions. `render` gives None where its contract has no result for what happened."""

    parse: Parse
    render: Callable[[RunReport], Any]


FORMATS: dict[str, Format] = {
    "operations": Format(operations.parse, operations.render),
    "steps": Format(steps.parse, steps.render),
    "geonodes": Format(geonodes.parse, geonodes.render),
}


def read_plan(
    text: bytes,
    *,
    dialect: Dialect | None = None,
    request_id: str | None = None,
    boundary: Boundary = "operation",
) -> Plan:
    """The plan, with findings of its own where it breaks its contract. Raises Refusal for what is no plan at all."""
    document, findings = read_json(text)
    if findings:
        raise Refusal(findings)
    return parse_plan(document, dialect=dialect, request_id=request_id, boundary=boundary)


def parse_plan(
    document: Any,
    *,
    dialect: Dialect | None = None,
    request_id: str | None = None,
    boundary: Boundary = "operation",
) -> Plan:
    """The same for a document that was read already."""
    found = dialect or recognise(document)
    if isinstance(found, Finding):
        raise Refusal((found,))
    return FORMATS[found].parse(document, request_id=request_id, boundary=boundary)


def render(report: RunReport) -> Any:
    """The report in the result contract of the plan's own dialect."""
    return FORMATS[report.dialect].render(report)
