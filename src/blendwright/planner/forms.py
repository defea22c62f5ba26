"""The forms of an answer, tried from the strictest on, for services that may refuse a schema. Whatever the form, the contract checks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from blendwright.planner.port import PlanAnswer, PlanRequest, SchemaRefused, Shape

Form = tuple[Shape, Mapping[str, Any] | None]


def forms(request: PlanRequest) -> list[Form]:
    last: Form = ("none", None)
    return (
        [last]
        if request.schema is None
        else [("strict", request.schema.strict), ("packed", request.schema.packed), last]
    )


async def in_some_form(
    request: PlanRequest, ask: Callable[[Shape, Mapping[str, Any] | None], Awaitable[PlanAnswer]]
) -> PlanAnswer:
    """The answer under the first form that the service takes. `ask` raises SchemaRefused for one that it does not."""
    *narrow, (shape, schema) = forms(request)
    for each, wanted in narrow:
        try:
            return await ask(each, wanted)
        except SchemaRefused:
            continue
    return await ask(shape, schema)
