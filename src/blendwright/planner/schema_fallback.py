"""The forms of an answer, tried from the strictest on, for services that may refuse a schema. Whatever the form, the contract checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from blendwright.planner.port import PlanRequest, PlanResponse, SchemaForm, SchemaRefused

SchemaVariant = tuple[SchemaForm, Mapping[str, Any] | None]


def schema_variants(request: PlanRequest) -> list[SchemaVariant]:
    last: SchemaVariant = ("none", None)
    return (
        [last]
        if request.schema is None
        else [("strict", request.schema.strict), ("packed", request.schema.packed), last]
    )


async def with_schema_fallback(
    request: PlanRequest, ask: Callable[[SchemaForm, Mapping[str, Any] | None], Awaitable[PlanResponse]]
) -> PlanResponse:
    """The answer under the first form that the service takes. `ask` raises SchemaRefused for one that it does not."""
    *narrow, (shape, schema) = schema_variants(request)
    for each, wanted in narrow:
        try:
            return await ask(each, wanted)
        except SchemaRefused:
            continue
    return await ask(shape, schema)
