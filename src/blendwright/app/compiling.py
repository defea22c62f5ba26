"""Documents to valid plans, and the last one kept: the same plan often comes again, to be continued or to be sure that it is done.

Responsible for: the same document giving the same valid plan without reading and checking it anew. Validation is pure, so nothing
but the document and the options decides; tools, macros and terms stay what they are while a workspace is open.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Mapping
from typing import Any

from blendwright.dialects.registry import parse_plan
from blendwright.macros import Macro
from blendwright.plan.refusal import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.session_contract import Terms
from blendwright.run.idempotency import MOST_KEPT
from blendwright.tool_api.effects import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.values.findings import Finding
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport

# Version 2 of the format has no references between equal objects: the bytes follow from the values alone.
_FORMAT = 2

_Source = tuple[bytes, str | None, Boundary, Determinism | None]


class Compiler:
    """For one open workspace."""

    def __init__(self, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro], terms: Terms) -> None:
        self._tools = tools
        self._macros = macros
        self._terms = terms
        self._last: tuple[_Source, ValidPlan] | None = None

    def compile(
        self,
        given: Plan | Mapping[str, Any],
        request_id: str | None,
        boundary: Boundary,
        determinism: Determinism | None = None,
    ) -> ValidPlan | RunReport:
        """The valid plan, or the report that refuses it. Raises Refusal for what is no plan at all."""
        if isinstance(given, Plan):
            return self._or_refused(given, determinism)
        document = dict(given)
        source = _source(document, request_id, boundary, determinism)
        if source is not None and self._last is not None and self._last[0] == source:
            return self._last[1]
        valid = self._or_refused(parse_plan(document, request_id=request_id, boundary=boundary), determinism)
        if source is not None and isinstance(valid, ValidPlan) and len(valid.plan.operations) <= MOST_KEPT:
            self._last = (source, valid)
        return valid

    def validated(self, plan: Plan, determinism: Determinism | None = None) -> ValidPlan | tuple[Finding, ...]:
        return validate(plan, self._tools, self._terms.demanding(determinism), macros=self._macros)

    def _or_refused(self, plan: Plan, determinism: Determinism | None) -> ValidPlan | RunReport:
        valid = self.validated(plan, determinism)
        return valid if isinstance(valid, ValidPlan) else refused(plan, valid)


def _source(
    document: dict[str, Any], request_id: str | None, boundary: Boundary, determinism: Determinism | None
) -> _Source | None:
    """What tells a document from any other, also 1 from 1.0 and from True; None for one that holds more than plain values."""
    try:
        return hashlib.sha256(marshal.dumps(document, _FORMAT)).digest(), request_id, boundary, determinism
    except ValueError:
        return None
