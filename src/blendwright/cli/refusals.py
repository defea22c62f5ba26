"""JSON answers of commands that refuse a plan or a call before anything ran.

They follow the contract of the plan's dialect, or the envelope of the call. For people, `main` prints the refusal like every other error.
"""

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
    """Wrap a command that takes a plan. With --json, print a Refusal as a failure in the plan's dialect or in --dialect."""

    @wraps(command)
    def run(**options: Any) -> int:
        try:
            return command(**options)
        except Refusal as refusal:
            if not options["json"]:
                raise
            path = options["plan"]
            dialect = options["dialect"]
            is_program = dialect == "program" or (dialect is None and path.endswith(ENDING))
            if is_program:
                dialect = "program"
            # The command has already consumed standard input, so it cannot be read again.
            read_again = None
            if path != "-" and not is_program:
                read_again = functools.partial(plan_text, path)
            report = refused_plan(read_again, dialect, refusal.findings)
            outcome = plan_outcome(command.__name__, report, {})
            error = result_envelope(outcome).model_dump(include={"error_code", "message", "details"})
            result = registry.render(report)
            print_json({"dialect": report.dialect, "ok": False, "result": result, "report": report.to_json(), **error})
            return Exit.REFUSED

    return run


def refusing_calls(command: Command) -> Command:
    """Wrap a command that calls a tool. With --json, print a Refusal in the envelope of a failed call."""

    @wraps(command)
    def run(**options: Any) -> int:
        try:
            return command(**options)
        except Refusal as refusal:
            if not options["json"]:
                raise
            first, *further = refusal.findings
            findings = (replace(first, cure=refusal.cure), *further)
            outcome = Outcome(options["tool"], 1, first.fault, refusal.message, findings)
            if options["envelope"] == "tool_result":
                render = tool_result
            else:
                render = core_envelope
            print_json(render(outcome).model_dump(mode="json"))
            return Exit.REFUSED

    return run
