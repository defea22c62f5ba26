"""The evaluation of one predicate: an expression over values of a scene. Runs in the evaluator's process, under the limits of programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import starlark

from blendwright.programs.errors import cure_of, plain_message
from blendwright.programs.evaluation import STEPS_PER_CHECK, Prelude, dialect, program_globals
from blendwright.programs.locations import read_error
from blendwright.programs.recording import Limits

# What values are called in an expression: dictionaries of things by name, and things whose parts are attributes.
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
    """`holds`, or the error: `unsound` where the expression is none whatever the scene, with the `limit` that it passed, or else it does
    not fit this scene."""
    limits = Limits(**request["limits"])
    ends, checks, passed = time.monotonic() + limits.seconds, 0, ""

    def over() -> bool:
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
    options = starlark.EvalOptions(check_cancelled=over, max_callstack_size=limits.call_depth)
    try:
        module = prelude.new_module()
        module["_values"] = request["values"]
        starlark.eval(module, starlark.parse("<values>", SURROUNDINGS, dialect()), program_globals())
        # On lines of its own: what follows an expression must not become part of it.
        text = f"_found = (\n{request['predicate']}\n)\nbool(_found)"
        try:
            starlark.parse("<0>", request["predicate"], dialect())
            parsed = starlark.parse("<0>", text, dialect())
        except starlark.StarlarkError as failure:
            return {**answer, "error": _error(str(failure), prelude, unsound=True)}
        answer["holds"] = starlark.eval_with(options, module, parsed, program_globals()).value is True
    except starlark.StarlarkError as failure:
        error = _error(str(failure), prelude, unsound=False)
        return {**answer, "error": {**error, "limit": passed} if passed else error}
    except BaseException as failure:
        # As in a program: a panic of the interpreter.
        if isinstance(failure, (KeyboardInterrupt, SystemExit)):
            raise
        return {"broken": True}
    return answer


def _error(text: str, prelude: Prelude, *, unsound: bool) -> dict[str, Any]:
    message = read_error(text, prelude.current).message
    unsound = unsound or message.startswith("Variable `")
    return {"message": plain_message(message), "cure": cure_of(message), "unsound": unsound, "limit": None}
