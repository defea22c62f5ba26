"""Schemas of the answer, tried from the strictest on, for services that may refuse one. Whatever the schema, the contract checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from blendwright.planner.port import PlanRequest, PlanResponse, SchemaForm, SchemaRefused


async def with_schema_fallback(
    request: PlanRequest, call: Callable[[SchemaForm, Mapping[str, Any] | None], Awaitable[PlanResponse]]
) -> PlanResponse:
    """The response under the first schema that the service takes. `call` raises SchemaRefused for one that it does not."""
    schemas: dict[SchemaForm, Mapping[str, Any]] = {}
    if request.schema is not None:
        schemas = {"strict": request.schema.strict, "packed": request.schema.packed}
    for form, schema in schemas.items():
        try:
            return await call(form, schema)
        except SchemaRefused:
            continue
    return await call("none", None)
