"""Signatures of the tools that a plan or program calls incorrectly, one line each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from blendwright.macros import Macro
from blendwright.server.answers.tool_page import variants
from blendwright.server.answers.tool_signatures import inputs_signature, tool_signature
from blendwright.tool_api.tool import AnyTool
from blendwright.tool_api.tool_names import own_name
from blendwright.util.json_shapes import fields_of
from blendwright.values.faults import Fault
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.plan import Plan
from blendwright.values.report import RunReport

# The most lines in one answer. For more tools the caller can use tool_describe.
MAX_CALLS = 3
MAX_CALL_CHARACTERS = 400
QUOTED_TOOL = re.compile(r"'(\w+\.\w+)'")


def call_help(
    plan: Plan, report: RunReport, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]
) -> dict[str, Any]:
    """Return `{"calls": lines}` for a report with wrong arguments or misspelled tool names, else an empty dict."""
    args = {planned.id: planned.args for planned in plan.operations}
    lines: dict[str, None] = {}
    for operation in reports_by_caller(report.operations):
        if any(finding.fault is Fault.ARGS_INVALID for finding in operation.findings):
            lines[call_line(operation.tool, args.get(operation.operation_id, {}), tools, macros)] = None
    for finding in report.all_findings():
        suggestion = QUOTED_TOOL.search(finding.cure or "")
        if (
            suggestion is not None
            and finding.fault is not Fault.ARGS_INVALID
            and (suggestion[1] in tools or suggestion[1] in macros)
        ):
            lines[call_line(suggestion[1], {}, tools, macros)] = None
    shown = [line for line in lines if line][:MAX_CALLS]
    if shown:
        return {"calls": shown}
    return {}


def call_line(name: str, args: Mapping[str, Any], tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> str:
    """Return the signature of a tool or macro, or an empty string if the name is unknown.

    If a value of `args` names a variant of the tool, the signature shows the fields of that variant.
    """
    tool = tools.get(own_name(name, tools))
    if tool is not None:
        known_variants = dict(variants(tool.args_schema()))
        for value in args.values():
            variant = str(fields_of(value).get("type", ""))
            if variant in known_variants:
                return tool_signature(tool, variant, MAX_CALL_CHARACTERS)
        return tool_signature(tool, "", MAX_CALL_CHARACTERS)
    if name in macros:
        return inputs_signature(name, macros[name].document.inputs)
    return ""
