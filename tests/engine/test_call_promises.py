"""What every answer to a call promises, on a real worker: its class and seed, its time, what to do about a failure, no stack traces."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from blendwright.dialects.envelopes import core_envelope, tool_result
from blendwright.policy.policy import Constraints, Policy
from blendwright.values.faults import Fault
from support.engine.engine import Engine

pytestmark = pytest.mark.usefixtures("checked")


@pytest.fixture(scope="module")
def ground(engine: Engine) -> Engine:
    engine.do("mesh.create_primitive", {"kind": "plane", "name": "Ground", "size": 10})
    return engine


@pytest.mark.proves("EXEC-DET-01", "CORE-PHASE-08")
def test_a_result_names_the_class_of_the_call_that_was_made(ground: Engine) -> None:
    scatter = {"source": "Anchor", "target": "Ground", "count": 2, "seed": 7, "prefix": "Class"}
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "deterministic": ("object.create_empty", {"name": "Class"}),
        "seeded": ("place.scatter", scatter),
        "nondeterministic": ("file.export", {"path": str(ground.place / "class.blend")}),
    }
    for expected, (tool, args) in calls.items():
        outcome = ground.do(tool, args)
        assert tool_result(outcome).determinism_class == expected, tool
        core = core_envelope(outcome)
        assert core.result is not None and core.result["determinism_class"] == expected, tool


@pytest.mark.proves("EXEC-DET-02")
def test_a_seeded_result_has_the_seed_it_was_made_with(ground: Engine) -> None:
    scatter = {"source": "Anchor", "target": "Ground", "count": 2, "prefix": "Seeded"}
    assert tool_result(ground.do("place.scatter", {**scatter, "seed": 11})).seed == 11
    assert tool_result(ground.do("place.scatter", {**scatter, "prefix": "Unseeded"})).seed == 0, (
        "the default is one too"
    )


@pytest.mark.proves("EXEC-TIME-01")
def test_the_time_that_a_caller_gives_ends_the_call(engine: Engine) -> None:
    with engine.under(Policy(constraints=Constraints(call_seconds=5.0))):
        engine.session.contract.contract()
        began = time.perf_counter()
        outcome = engine.call("trial.misbehave", {"how": "run_away", "name": "Hurried"}, timeout=1.0)
        assert time.perf_counter() - began >= 1.0
    assert outcome.fault is Fault.TOOL_TIMEOUT
    assert tool_result(outcome).details["partial_work"]["deadline_seconds"] == 1.0, "not the 5 of the session"


@pytest.mark.proves("CORE-PHASE-07")
def test_a_verification_that_does_not_end_is_ended_with_the_time_of_its_call(engine: Engine) -> None:
    engine.scene.worker()
    engine.session.contract.contract()
    began = time.perf_counter()
    outcome = engine.call("trial.misbehave", {"how": "linger", "name": "Lingering"}, timeout=1.0)
    assert time.perf_counter() - began >= 1.0
    assert outcome.fault is Fault.TOOL_TIMEOUT
    assert tool_result(outcome).details["partial_work"]["deadline_seconds"] == 1.0, "no time of its own"
    assert outcome.fingerprint_after == engine.full_hash()


FAILING: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown tool": ("mesh.create_primitiv", {}),
    "a wrong argument": ("mesh.create_primitive", {"kind": "cub", "name": "A"}),
    "nothing of that name": ("object.delete", {"name": "Nobody"}),
    "a name that is taken": ("object.create_empty", {"name": "Anchor"}),
    "a file outside": ("file.export", {"path": "/elsewhere/a.blend"}),
    "a tool that raises": ("trial.misbehave", {"how": "raise", "name": "Raised"}),
    "a result that is not as promised": ("trial.misbehave", {"how": "unverified", "name": "Doubted"}),
    "a crash": ("trial.misbehave", {"how": "crash", "name": "Crashed"}),
    "too little time": ("trial.misbehave", {"how": "run_away", "name": "Late"}),
}


@pytest.mark.proves("EXEC-CODE-02", "EXEC-CODE-04")
@pytest.mark.parametrize("case", FAILING)
def test_whatever_fails_says_what_to_do(engine: Engine, case: str) -> None:
    tool, args = FAILING[case]
    outcome = engine.call(tool, args, timeout=1.0 if case == "too little time" else None)
    result = tool_result(outcome)
    assert not result.ok and result.error_code and result.message
    findings = result.details["findings"]
    assert findings and all(finding["cure"] for finding in findings), findings


@pytest.mark.proves("CORE-PHASE-06")
def test_a_tool_that_raises_is_answered_by_the_envelope_without_its_stack_trace(engine: Engine) -> None:
    rendered = core_envelope(engine.call("trial.misbehave", {"how": "raise", "name": "Traced"})).model_dump(mode="json")
    assert set(rendered) == {"ok", "result", "error"} and rendered["result"] is None
    assert set(rendered["error"]) == {"code", "message", "details"}
    assert rendered["error"]["code"] == "execution_failed" and "raised on purpose" in rendered["error"]["message"]
    text = json.dumps(rendered)
    assert not [sign for sign in ("Traceback", 'File "', ".py", "line ") if sign in text]
