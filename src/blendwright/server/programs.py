"""Programs that come over MCP, in the place of plans."""

from __future__ import annotations

from typing import Any

from blendwright.app.programs import program_surroundings
from blendwright.dialects.registry import parse_plan
from blendwright.server.context import ServerContext
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Plan


def read_program(
    context: ServerContext, program: str, params: dict[str, Any], plan: dict[str, Any], **options: Any
) -> Plan:
    """The plan that a program yields, with the tools, macros and roots of the workspace around it. Raises Refusal where a plan is
    given beside it."""
    if plan:
        message = "a plan and a program are given, and only one of them can be run"
        raise Refusal.of(Fault.SCHEMA_INVALID, message, "Leave out the other one.")
    around = program_surroundings(context.workspace, roots=context.roots)
    return parse_plan({"program": program, "params": params}, surroundings=around, **options)
