"""Documents to valid plans, and the last one kept: the same plan often comes again, to be continued or to be sure that it is done.

Responsible for: the same document giving the same valid plan without reading and checking it anew. Validation is pure, so nothing
but the document and the two options decides; tools and session stay what they are while a workspace is open.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from typing import Any

from blendwright.app.plans import parse_plan
from blendwright.contracts.session import Session
from blendwright.contracts.tool import AnyTool
from blendwright.plan.refusal import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.run.runner import MOST_KEPT
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport

# Version 2 of the format has no references between equal objects: the bytes follow from the values alone.
_FORMAT = 2

_Source = tuple[bytes, str | None, Boundary]


class Compiler:
    """For one open workspace."""

    def __init__(self, tools: Mapping[str, AnyTool], session: Session) -> None:
        self._tools = tools
        self._session = session
        self._last: tuple[_Source, ValidPlan] | None = None

    def compile(
        self, given: Plan | Mapping[str, Any], request_id: str | None, boundary: Boundary
    ) -> ValidPlan | RunReport:
        """The valid plan, or the report that refuses it. Raises Refusal for what is no plan at all."""
        if isinstance(given, Plan):
            return self._validated(given)
        document = dict(given)
        source = _source(document, request_id, boundary)
        if source is not None and self._last is not None and self._last[0] == source:
            return self._last[1]
        valid = self._validated(parse_plan(document, request_id=request_id, boundary=boundary))
        if source is not None and isinstance(valid, ValidPlan) and len(valid.plan.operations) <= MOST_KEPT:
            self._last = (source, valid)
        return valid

    def _validated(self, plan: Plan) -> ValidPlan | RunReport:
        valid = validate(plan, self._tools, self._session)
        return valid if isinstance(valid, ValidPlan) else refused(plan, valid)


def _source(document: dict[str, Any], request_id: str | None, boundary: Boundary) -> _Source | None:
    """What tells a document from any other, also 1 from 1.0 and from True; None for one that holds more than plain values."""
    try:
        return hashlib.sha256(marshal.dumps(document, _FORMAT)).digest(), request_id, boundary
    except ValueError:
        return None
