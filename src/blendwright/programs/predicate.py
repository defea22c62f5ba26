"""Evaluation of a predicate over a scene: a Starlark expression that is true or false, evaluated in the process for
programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blendwright.programs.evaluator_process import EVALUATORS, EvaluatorEnded, Evaluators
from blendwright.programs.program import LIMITS, no_libraries
from blendwright.programs.recording import Limits
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

# Bytes of an expression. A longer text is probably a program.
MAX_BYTES = 16_384
CURE = 'As in: scene.objects["Lamp"].location[2] > 0, or audit.errors == 0.'


@dataclass(frozen=True, slots=True)
class Verdict:
    """The truth of a predicate.

    If the expression does not fit the scene, for example because an object is missing, `message` says so.
    """

    holds: bool
    message: str | None = None


def judge(
    expression: str, values: Mapping[str, Any], limits: Limits = LIMITS, evaluators: Evaluators = EVALUATORS
) -> Verdict:
    """Return the verdict. Raise Refusal for a text that is not an expression, or if the evaluation passes a limit."""
    if not expression.strip() or "\0" in expression or len(expression.encode(errors="replace")) > MAX_BYTES:
        message = f"the check must be an expression of at most {MAX_BYTES >> 10} kB"
        raise Refusal.of(Fault.ARGS_INVALID, message, CURE)
    request: dict[str, Any] = {
        "predicate": expression,
        "values": dict(values),
        "tools": [],
        "limits": {name: getattr(limits, name) for name in Limits.__dataclass_fields__},
    }
    try:
        answer = evaluators.ask(request, limits.seconds, no_libraries)
    except EvaluatorEnded as ended:
        limit = f"{limits.seconds:g} seconds"
        if ended.in_time:
            limit = f"{limits.memory_mb} MB of memory"
        raise _too_much(limit) from None
    error = answer["error"]
    if error is None:
        return Verdict(answer["holds"])
    if error["limit"] is not None:
        raise _too_much(error["limit"])
    if error["unsound"]:
        raise Refusal.of(
            Fault.ARGS_INVALID, f"the check is not an expression: {error['message']}", f"{error['cure']} {CURE}"
        )
    return Verdict(False, error["message"])


def _too_much(limit: str) -> Refusal:
    return Refusal.of(Fault.LIMIT_EXCEEDED, f"the check takes more than {limit}", "Let it look at less.")
