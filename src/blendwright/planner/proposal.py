"""From a model's answer to a plan: read strictly, under our own request id, with what is committed already.

The request id is one for all attempts, whatever the model writes: by it the operations of an earlier attempt are known again and
skipped. Committed operations that an answer leaves out are put back, behind its own so that pointers into the answer stay true:
they are in the scene, and others may depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from blendwright.app.plans import parse_plan
from blendwright.dialects.reading import read_json
from blendwright.dialects.recognise import Dialect
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.plan import Boundary, Plan


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """A plan that a model proposes. `document` is what is held to the contract."""

    document: Any
    plan: Plan


def boundary_of(dialect: Dialect) -> Boundary:
    """Operations are kept one by one and skipped next time; other dialects have no ids of their own for that, so all or nothing."""
    return "operation" if dialect == "operations" else "plan"


def read_proposal(
    text: str, dialect: Dialect, request_id: str, committed: Sequence[Mapping[str, Any]] = ()
) -> PlanProposal | tuple[Finding, ...]:
    """The proposal, or why the text is none. What is wrong inside a plan is for its validation to say."""
    document, findings = read_json(text.encode())
    if findings:
        return tuple(findings)
    if dialect == "operations" and isinstance(document, dict):
        document = _ours(cast("dict[str, Any]", document), request_id, committed)
    try:
        plan = parse_plan(document, dialect=dialect, request_id=request_id, boundary=boundary_of(dialect))
    except Refusal as refusal:
        return refusal.findings
    return PlanProposal(document, plan)


def _ours(document: dict[str, Any], request_id: str, committed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    document = {**document, "request_id": request_id}
    listed: Any = document.get("operations")
    if isinstance(listed, list):
        own = cast("list[Any]", listed)
        ids = {cast("dict[str, Any]", item).get("operation_id") for item in own if isinstance(item, dict)}
        document["operations"] = [*own, *(dict(item) for item in committed if item["operation_id"] not in ids)]
    return document
