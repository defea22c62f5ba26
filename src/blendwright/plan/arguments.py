"""Phase 1 of a call: its arguments are validated, once for the whole core, with every finding and its pointer.

First come the schema and the model of the arguments; what only the tool knows of them comes last. Whether the arguments are JSON at
all was checked where they came in (`values.json_reader`). The worker validates once more, on its side.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from blendwright.schemas.check import ModelChecker
from blendwright.tool_api.tool import AnyTool
from blendwright.values.findings import Finding


class ValidatedArguments(NamedTuple):
    """`canonical` is what is sent, hashed and kept; `model` is the same as the tool's own type, for promises that depend on the
    arguments. With findings, which point into the arguments, there is neither."""

    canonical: dict[str, Any]
    findings: tuple[Finding, ...] = ()
    model: Any = None


def validate_arguments(tool: AnyTool, raw: Any) -> ValidatedArguments:
    """The arguments of a call in canonical form and as a model, or everything that is wrong with them."""
    model, findings = _checker(type(tool)).validate(raw)
    findings = findings or tuple(tool.examine(model, None))
    return (
        ValidatedArguments({}, findings) if findings else ValidatedArguments(model.model_dump(mode="json"), (), model)
    )


@cache
def _checker(tool: type[AnyTool]) -> ModelChecker:
    return ModelChecker(tool.args_model, tool.args_schema(), f"See: blendwright tools {tool.name}")
