"""The published schemas as checkers, with each field's own description as the cure, and the proof that what we render fits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from blendwright.schemas.check import Checker
from blendwright.schemas.published import schema
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


@cache
def checker(name: str) -> Checker:
    document_schema = schema(name)
    words = dict(_descriptions(document_schema))

    def advice(pointer: str) -> str:
        for part in reversed(pointer.split("/")):
            if part in words:
                return f"{part}: {words[part]}"
        return f"See the published schema: blendwright schemas {name}"

    return Checker(document_schema, Fault.SCHEMA_INVALID, advice)


def proven(name: str, document: Any) -> None:
    """What leaves a dialect has passed its contract's own schema; that it does not is a defect of ours."""
    refuse_broken(list(checker(name).findings(document)))


def refuse_broken(findings: list[Finding]) -> None:
    if findings:
        first = findings[0]
        message = f"the result breaks its own contract at '{first.pointer}': {first.message}"
        raise BlendwrightError(message, cure="This is a defect. Report it, with the plan.")


def _descriptions(part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        members = cast("dict[str, Any]", part)
        for name, inner in members.get("properties", {}).items():
            if isinstance(inner, dict) and "description" in inner:
                yield name, str(cast("dict[str, Any]", inner)["description"])
        for inner in members.values():
            yield from _descriptions(inner)
    elif isinstance(part, list):
        for inner in cast("list[Any]", part):
            yield from _descriptions(inner)
