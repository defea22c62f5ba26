"""How the tools are called that a plan or program calls wrongly, a line each, beside the findings about them."""

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

# A line has up to some hundred signs, and who got more tools wrong asks tool_describe for all of them.
MAX_CALLS = 3
MAX_CALL_CHARACTERS = 400
NAMED = re.compile(r"'(\w+\.\w+)'")


def call_help(
    plan: Plan, report: RunReport, tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]
) -> dict[str, Any]:
    """For a report: `calls`, where arguments are wrong or the name of a tool is nearly right; else nothing."""
    args = {one.id: one.args for one in plan.operations}
    lines: dict[str, None] = {}
    for operation in reports_by_caller(report.operations):
        if any(finding.fault is Fault.ARGS_INVALID for finding in operation.findings):
            lines[call_line(operation.tool, args.get(operation.operation_id, {}), tools, macros)] = None
    for finding in report.all_findings():
        near = NAMED.search(finding.cure or "")
        if near is not None and finding.fault is not Fault.ARGS_INVALID and (near[1] in tools or near[1] in macros):
            lines[call_line(near[1], {}, tools, macros)] = None
    told = [line for line in lines if line][:MAX_CALLS]
    if told:
        return {"calls": told}
    return {}


def call_line(name: str, args: Mapping[str, Any], tools: Mapping[str, AnyTool], macros: Mapping[str, Macro]) -> str:
    """A tool as it is called, with the fields of the variant that its arguments choose; nothing where there is none of this name."""
    tool = tools.get(own_name(name, tools))
    if tool is not None:
        known = dict(variants(tool.args_schema()))
        chosen = (str(fields_of(value).get("type", "")) for value in args.values())
        return tool_signature(tool, next((one for one in chosen if one in known), ""), MAX_CALL_CHARACTERS)
    if name in macros:
        return inputs_signature(name, macros[name].document.inputs)
    return ""
