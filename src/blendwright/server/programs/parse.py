"""Programs that come over MCP, in the place of plans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from blendwright.dialects.registry import parse_plan
from blendwright.programs.evaluator_process import GoOn
from blendwright.server.context import ServerContext
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.plan import Plan
from blendwright.workspace.programs import program_surroundings


async def read_program(
    context: ServerContext,
    seconds: float,
    program: str,
    params: dict[str, Any],
    plan: dict[str, Any],
    **options: Any,
) -> Plan:
    """Evaluate a program with the tools, macros and roots of the workspace, and return its plan.

    Raises Refusal where a plan is given as well, and where it takes more than `seconds`, waiting included.
    """
    if plan:
        message = "a plan and a program are given, and only one of them can be run"
        raise Refusal.of(Fault.SCHEMA_INVALID, message, "Leave out the other one.")

    def evaluate(go_on: GoOn) -> Plan:
        around = replace(program_surroundings(context.workspace, roots=context.roots), go_on=go_on)
        return parse_plan({"program": program, "params": params}, surroundings=around, **options)

    return await context.program_turns.run(seconds, evaluate)
