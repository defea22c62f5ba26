"""Evaluation of programs that arrive over MCP instead of plans."""

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

    Raises Refusal if a plan is given as well, or if evaluation takes more than `seconds`, including the time that it
    waits.
    """
    if plan:
        message = "a call has either a plan or a program, not both"
        raise Refusal.of(Fault.SCHEMA_INVALID, message, "Omit plan or program.")

    def evaluate(go_on: GoOn) -> Plan:
        around = replace(program_surroundings(context.workspace, roots=context.roots), go_on=go_on)
        return parse_plan({"program": program, "params": params}, surroundings=around, **options)

    return await context.program_turns.run(seconds, evaluate)
