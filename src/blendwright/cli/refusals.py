"""What programs read where a command refuses before anything ran: the contract of the plan's dialect or the envelope of the call, in its
own codes. People are told by `main`, as of every other error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from blendwright.cli.output import Exit, print_json
from blendwright.cli.plan_files import ENDING, plan_text
from blendwright.dialects import registry
from blendwright.dialects.envelopes import core_envelope, plan_outcome, result_envelope, tool_result
from blendwright.values.errors import Refusal
from blendwright.values.outcome import Outcome
from blendwright.workspace.validate import refused_plan

Command = Callable[..., int]


def refusing_plans(command: Command) -> Command:
    """A command that takes a plan: with --json, its refusal is the failure of the plan's dialect, or of the one that was asked for."""

    @wraps(command)
    def run(**options: Any) -> int:
        try:
            return command(**options)
        except Refusal as refusal:
            if not options["json"]:
                raise
            # Standard input is spent; whatever it was, nothing of it ran.
            path, dialect = options["plan"], options["dialect"]
            is_program = dialect == "program" or (dialect is None and path.endswith(ENDING))
            if path != "-" and not is_program:
                again = functools.partial(plan_text, path)
            else:
                again = None
            report = refused_plan(again, "program" if is_program else dialect, refusal.findings)
            outcome = plan_outcome(command.__name__, report, {})
            told = result_envelope(outcome).model_dump(include={"error_code", "message", "details"})
            result = registry.render(report)
            print_json({"dialect": report.dialect, "ok": False, "result": result, "report": report.to_json(), **told})
            return Exit.REFUSED

    return run


def refusing_calls(command: Command) -> Command:
    """A command that calls a tool: with --json, its refusal is the envelope of a call that failed."""

    @wraps(command)
    def run(**options: Any) -> int:
        try:
            return command(**options)
        except Refusal as refusal:
            if not options["json"]:
                raise
            first, *others = refusal.findings
            findings = (replace(first, cure=refusal.cure), *others)
            outcome = Outcome(options["tool"], 1, first.fault, refusal.message, findings)
            if options["envelope"] == "tool_result":
                render = tool_result
            else:
                render = core_envelope
            print_json(render(outcome).model_dump(mode="json"))
            return Exit.REFUSED

    return run
