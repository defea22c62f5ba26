"""Macros for tests: small documents of real tools, and the way from documents to macros."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blendwright.macros import Macro
from blendwright.macros.loading import read_macros
from blendwright.tool_api.tool import AnyTool
from blendwright.tools import catalog
from blendwright.values.findings import Finding

NAME: dict[str, Any] = {"type": "string", "minLength": 1, "description": "A name."}


def empty(title: str, name: str = "{{name}}", **more: Any) -> dict[str, Any]:
    return {"title": title, "tool": "object.create_empty", "args": {"name": name, **more}}


def document(name: str = "test.pair", *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A macro that makes two empties, `{{name}} a` and `{{name}} b`, unless told otherwise."""
    return {
        "format": "macro.v1",
        "name": name,
        "version": 1,
        "summary": "For tests.",
        "inputs": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name"],
            "properties": {"name": NAME},
        },
        "steps": list(steps) or [empty("first", "{{name}} a"), empty("second", "{{name}} b")],
        "rollback": True,
        "determinism": "deterministic",
        "examples": [{"inputs": {"name": "Pair"}}],
    } | fields


def read(
    *documents: dict[str, Any], tools: Mapping[str, AnyTool] | None = None
) -> tuple[Mapping[str, Macro], tuple[Finding, ...]]:
    texts = {f"{place}.json": json.dumps(one).encode() for place, one in enumerate(documents)}
    return read_macros(texts, tools or catalog.tools(), {})


def macros(*documents: dict[str, Any], tools: Mapping[str, AnyTool] | None = None) -> Mapping[str, Macro]:
    found, findings = read(*documents, tools=tools)
    assert not findings, findings
    return found


def said(*documents: dict[str, Any]) -> set[tuple[str, str]]:
    """Code and pointer of everything that is found."""
    return {(finding.fault.value, finding.pointer) for finding in read(*documents)[1]}
