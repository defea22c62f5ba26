"""Evaluation of one predicate: an expression over values of a scene.

This module runs in the evaluator's process, under the limits of programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import starlark

from blendwright.programs.errors import cure_of, plain_message
from blendwright.programs.evaluation import STEPS_PER_CHECK, Prelude, dialect, program_globals
from blendwright.programs.locations import read_error
from blendwright.programs.recording import Limits

# Names in an expression: dictionaries of items by name, and structs with attributes.
SURROUNDINGS = """
def _things(given):
    return {name: struct(**parts) for name, parts in given.items()}

scene = struct(**{
    kind: _things(given) if kind in _values["named"] else struct(**given) for kind, given in _values["scene"].items()
})
audit = None if _values["audit"] == None else struct(**_values["audit"])
"""
FULL = 0.85


def evaluate_predicate(
    request: Mapping[str, Any], prelude: Prelude, memory: Callable[[], float] = lambda: 0.0
) -> dict[str, Any]:
    """Return an answer with `holds`, or with an error.

    The error is `unsound` if the expression is invalid in every scene. It names the `limit` that the evaluation passed,
    if any. Any other error means that the expression does not fit this scene.
    """
    limits = Limits(**request["limits"])
    ends, checks, passed = time.monotonic() + limits.seconds, 0, ""

    def is_over_limit() -> bool:
        nonlocal checks, passed
        checks += 1
        if checks * STEPS_PER_CHECK > limits.steps:
            passed = f"{limits.steps:,} steps"
        elif time.monotonic() > ends:
            passed = f"{limits.seconds:g} seconds"
        elif memory() > FULL:
            passed = f"{limits.memory_mb} MB of memory"
        return bool(passed)

    answer: dict[str, Any] = {"broken": False, "worn": memory() > FULL / 2, "holds": False, "error": None}
    options = starlark.EvalOptions(check_cancelled=is_over_limit, max_callstack_size=limits.call_depth)
    try:
        module = prelude.new_module()
        module["_values"] = request["values"]
        starlark.eval(module, starlark.parse("<values>", SURROUNDINGS, dialect()), program_globals())
        # The expression stands on separate lines, so that the text after it cannot become part of it.
        text = f"_found = (\n{request['predicate']}\n)\nbool(_found)"
        try:
            starlark.parse("<0>", request["predicate"], dialect())
            parsed = starlark.parse("<0>", text, dialect())
        except starlark.StarlarkError as failure:
            return {**answer, "error": _error(str(failure), prelude, unsound=True)}
        answer["holds"] = starlark.eval_with(options, module, parsed, program_globals()).value is True
    except starlark.StarlarkError as failure:
        error = _error(str(failure), prelude, unsound=False)
        if passed:
            error["limit"] = passed
        return {**answer, "error": error}
    except BaseException as failure:
        # A panic of the interpreter, as in a program.
        if isinstance(failure, (KeyboardInterrupt, SystemExit)):
            raise
        return {"broken": True}
    return answer


def _error(text: str, prelude: Prelude, *, unsound: bool) -> dict[str, Any]:
    message = read_error(text, prelude.current).message
    unsound = unsound or message.startswith("Variable `")
    return {"message": plain_message(message), "cure": cure_of(message), "unsound": unsound, "limit": None}
