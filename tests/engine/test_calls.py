"""Calls through all their phases, on a real worker: what success promises, and that every failure leaves the scene as it was."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.dialects.envelopes import core_envelope, tool_result
from blendwright.policy.policy import Constraints, Policy
from blendwright.policy.session_contract import Proposal
from blendwright.tool_api.promises import Determinism
from blendwright.values.faults import Fault
from blendwright.values.outcome import PHASES, Outcome
from blendwright.wire import frames
from support.engine.engine import Announcing, Engine


@pytest.fixture(autouse=True)
def checked(engine: Engine) -> Iterator[None]:
    """After every test the scene that the engine speaks of is the one in the worker."""
    yield
    assert engine.full_hash() == engine.scene.hash


def phases(outcome: Outcome) -> dict[str, bool]:
    """Which phases were run."""
    assert tuple(phase.name for phase in outcome.trace) == PHASES
    return {phase.name: phase.ms is not None for phase in outcome.trace}


def codes(outcome: Outcome) -> tuple[str | None, str | None]:
    """The codes of both contracts; neither rendering may hold a stack trace."""
    ours, core = tool_result(outcome), core_envelope(outcome)
    for rendered in (ours, core):
        text = json.dumps(rendered.model_dump(mode="json"))
        assert "Traceback" not in text and 'File "' not in text and ".py" not in text
    return ours.error_code, core.error.code if core.error else None


def failure(engine: Engine, how: str, **options: Any) -> Outcome:
    """A trial that must fail and leave the scene as it was, proven by a full hash of what is in the worker."""
    before = engine.full_hash()
    outcome = engine.call("trial.misbehave", {"how": how, "name": how}, **options)
    assert not outcome.ok
    assert outcome.fingerprint_before == outcome.fingerprint_after == before
    assert engine.full_hash() == before
    return outcome


# ---------------------------------------------------------------------- success


@pytest.mark.proves("EXEC-PHASE-09", "EXEC-IDEMP-03", "EXEC-SNAP-03", "EXEC-PHASE-10")
def test_a_success_has_hashes_handles_changes_and_its_determinism(engine: Engine) -> None:
    before = engine.full_hash()
    outcome = engine.do("mesh.create_primitive", {"kind": "cube", "name": "Box"})
    assert outcome.fingerprint_before == before
    assert outcome.fingerprint_after == engine.full_hash() != before
    assert outcome.result is not None and outcome.result["object"] == "Box"
    assert {"kind": "objects", "name": "Box"} in outcome.handles
    assert {"kind": "meshes", "name": "Box"} in outcome.handles
    assert {"kind": "objects", "name": "Box", "change": "created"} in outcome.changes
    assert (outcome.determinism_class, outcome.seed, outcome.reverted_by) == ("deterministic", None, None)
    assert all(phases(outcome).values())
    assert codes(outcome) == (None, None)


@pytest.mark.proves("EXEC-DET-03")
def test_a_tolerance_is_named_where_one_applies(engine: Engine) -> None:
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Measured"})
    measured = tool_result(engine.call("mesh.measure", {"object": "Measured"}))
    assert measured.ok and measured.tolerance is not None and measured.tolerance > 0
    moved = tool_result(engine.call("object.transform", {"name": "Measured", "location": [0, 0, 1]}))
    assert moved.ok and moved.tolerance is None, moved


@pytest.mark.proves("EXEC-VERIFY-01")
def test_a_deleted_thing_has_no_handle(engine: Engine) -> None:
    engine.do("object.create_empty", {"name": "Short"})
    outcome = engine.do("object.delete", {"name": "Short"})
    assert {"kind": "objects", "name": "Short", "change": "removed"} in outcome.changes
    assert all(handle["name"] != "Short" for handle in outcome.handles)


@pytest.mark.proves("EXEC-PHASE-08")
def test_a_read_only_call_leaves_the_hash_and_verifies_when_asked(engine: Engine) -> None:
    outcome = engine.do("trial.peek", {"how": "unverified"})
    assert outcome.fingerprint_before == outcome.fingerprint_after
    asked = engine.call("trial.peek", {"how": "unverified"}, verify=True)
    assert asked.fault is Fault.VERIFICATION_FAILED


@pytest.mark.parametrize("way", ["inverse", "memfile"])
def test_a_rehearsal_answers_and_leaves_the_scene_as_before(engine: Engine, way: str) -> None:
    before = engine.full_hash()
    outcome = engine.do("mesh.create_primitive", {"kind": "cube", "name": "Rehearsed"}, rehearse=way)
    assert outcome.reverted_by == way
    assert outcome.result is not None and outcome.result["object"] == "Rehearsed"
    assert outcome.fingerprint_before == outcome.fingerprint_after == engine.full_hash() == before


def test_a_rehearsed_export_leaves_no_file(engine: Engine) -> None:
    target = engine.place / "rehearsed.blend"
    outcome = engine.do("file.export", {"path": str(target)}, rehearse="inverse")
    assert outcome.artifacts == () and not target.exists()


@pytest.mark.proves("EXEC-DET-04")
def test_two_sessions_with_equal_calls_have_equal_hashes(tmp_path: Path) -> None:
    kinds = ("cube", "uv_sphere", "torus", "plane")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("mesh.create_primitive", {"kind": kind, "name": kind}) for kind in kinds
    ]
    calls.append(("place.scatter", {"source": "cube", "target": "plane", "count": 5, "seed": 7, "prefix": "Bit"}))
    with Engine(tmp_path / "first", spare=False) as first, Engine(tmp_path / "second", spare=False) as second:
        first.pool.warm()
        second.pool.warm()
        hashes = [[session.do(*call).fingerprint_after for call in calls] for session in (first, second)]
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == len(calls)


@pytest.mark.proves("EXEC-SNAP-01", "CORE-DET-02")
def test_a_snapshot_is_given_when_asked_for(engine: Engine) -> None:
    outcome = engine.do("object.create_empty", {"name": "Seen"}, snapshot=True)
    assert outcome.snapshot is not None
    assert outcome.snapshot["fingerprint"] == outcome.fingerprint_after
    assert "Seen" in [entry["name"] for entry in outcome.snapshot["objects"]["items"]]
    assert tool_result(outcome).snapshot == outcome.snapshot
    assert engine.do("object.create_empty", {"name": "Unseen"}).snapshot is None


# ---------------------------------------------------------------------- refused before anything runs


@pytest.mark.proves("CORE-PHASE-02")
def test_an_unknown_tool_is_refused_with_the_one_that_was_meant(engine: Engine) -> None:
    outcome = engine.call("mesh.create_primitiv", {})
    assert codes(outcome) == ("policy_refused", "contract_violation")
    assert outcome.findings[0].cure is not None and "'mesh.create_primitive'" in outcome.findings[0].cure


@pytest.mark.proves("EXEC-PHASE-03", "CORE-PHASE-01", "EXEC-CODE-05")
def test_bad_arguments_are_refused_with_pointer_and_cure_and_reach_no_later_phase(engine: Engine) -> None:
    outcome = engine.call("mesh.create_primitive", {"kind": "cube", "name": "Bad", "sise": 2})
    assert codes(outcome) == ("invalid_input", "invalid_arguments")
    assert (outcome.findings[0].pointer, outcome.findings[0].cure) == ("/sise", "Did you mean 'size'?")
    assert outcome.fingerprint_before == outcome.fingerprint_after == engine.full_hash()
    reached = {"parse", "validate_input", "return"}
    assert {name for name, run in phases(outcome).items() if run} == reached


@pytest.mark.parametrize(
    ("proposal", "expected"),
    [
        (Proposal(capabilities=("scene_read",)), ("capability_missing", "capability_missing")),
        (Proposal(determinism=Determinism.DETERMINISTIC), ("nondeterministic_refused", "contract_violation")),
    ],
    ids=["capability", "determinism"],
)
@pytest.mark.proves("EXEC-PHASE-05", "CORE-REFUSE-02", "EXEC-MODE-05", "CORE-REFUSE-04", "EXEC-CODE-06")
def test_a_call_against_the_contract_is_refused_at_the_gate(
    engine: Engine, proposal: Proposal, expected: tuple[str, str]
) -> None:
    before, target = engine.full_hash(), engine.place / "gated.blend"
    with engine.under(proposal=proposal):
        outcome = engine.call("file.export", {"path": str(target)})
    assert codes(outcome) == expected
    assert {name for name, run in phases(outcome).items() if run} == {"parse", "validate_input", "gate", "return"}
    assert engine.full_hash() == before and not target.exists()


@pytest.mark.proves("EXEC-GATE-03", "EXEC-CODE-07")
def test_a_file_outside_the_roots_is_refused(engine: Engine) -> None:
    outcome = engine.call("file.import", {"path": "/etc/passwd.obj"})
    assert codes(outcome) == ("policy_refused", "contract_violation")
    assert outcome.findings[0].pointer == "/path"


@pytest.mark.proves("EXEC-PHASE-06", "EXEC-CODE-08", "EXEC-CODE-09")
def test_a_check_that_fails_in_blender_has_its_pointer_and_writes_nothing(engine: Engine) -> None:
    before = engine.full_hash()
    taken = engine.call("object.create_empty", {"name": "Anchor", "location": [9, 9, 9]})
    assert codes(taken) == ("conflict", "execution_failed")
    missing = engine.call("object.delete", {"name": "Ankor"})
    assert codes(missing) == ("not_found", "not_found")
    assert missing.findings[0].pointer == "/name" and "'Anchor'" in (missing.findings[0].cure or "")
    assert not phases(missing)["execute"]
    assert missing.reverted_by is None
    assert engine.full_hash() == before


# ---------------------------------------------------------------------- failures that are taken back


@pytest.mark.parametrize(
    ("how", "fault", "expected"),
    [
        ("raise", Fault.EXECUTION_FAILED, ("internal_error", "execution_failed")),
        ("fail", Fault.SCENE_CONFLICT, ("conflict", "execution_failed")),
        ("unverified", Fault.VERIFICATION_FAILED, ("conflict", "execution_failed")),
        ("undeclared", Fault.INTERNAL_ERROR, ("internal_error", "internal_error")),
    ],
)
@pytest.mark.proves("EXEC-PARTIAL-01", "CORE-ATOMIC-01", "CORE-PHASE-05", "OPS-ROLL-03", "EXEC-CODE-11")
def test_a_step_that_fails_is_taken_back(engine: Engine, how: str, fault: Fault, expected: tuple[str, str]) -> None:
    worker = engine.scene.worker()
    outcome = failure(engine, how)
    assert outcome.fault is fault
    assert codes(outcome) == expected
    assert outcome.reverted_by == "inverse"
    assert outcome.partial is not None and outcome.partial["kept"] == []
    assert engine.scene.worker() is worker, "no rebuild was needed"


def test_a_read_only_tool_that_writes_is_caught_and_taken_back(engine: Engine) -> None:
    before = engine.full_hash()
    outcome = engine.call("trial.peek", {"how": "undeclared", "name": "Peeked"})
    assert (outcome.fault, outcome.reverted_by) == (Fault.INTERNAL_ERROR, "inverse")
    assert "read-only" in outcome.message
    assert engine.full_hash() == before


def test_a_step_that_cannot_be_taken_back_ends_in_a_rebuilt_scene(engine: Engine) -> None:
    worker = engine.scene.worker()
    outcome = failure(engine, "irreversible")
    assert (outcome.fault, outcome.reverted_by) == (Fault.EXECUTION_FAILED, "rebuild")
    assert engine.scene.worker() is not worker


# ---------------------------------------------------------------------- workers that are lost


def test_a_worker_killed_in_the_middle_of_a_call_is_lost_and_the_next_call_works_on_the_rebuilt_scene(
    engine: Engine,
) -> None:
    before, worker = engine.full_hash(), engine.scene.worker()
    running, _ = engine.underway("trial.misbehave", {"how": "run_away", "name": "Killed"})
    os.kill(worker.profile.pid, signal.SIGKILL)
    outcome = running.result(60)
    assert outcome.fault is Fault.WORKER_LOST
    assert codes(outcome) == ("internal_error", "internal_error")
    assert "SIGKILL" in outcome.message
    assert outcome.fingerprint_after == before
    again = engine.do("object.create_empty", {"name": "After the kill"})
    assert again.fingerprint_before == before
    assert engine.scene.worker().profile.pid != worker.profile.pid


def test_a_worker_killed_between_calls_is_not_noticed_by_the_caller(engine: Engine) -> None:
    before = engine.full_hash()
    engine.kill_worker()
    outcome = engine.do("object.create_empty", {"name": "After an unseen kill"})
    assert outcome.fingerprint_before == before


def test_a_crash_of_blender_is_a_lost_worker(engine: Engine) -> None:
    outcome = failure(engine, "crash")
    assert outcome.fault is Fault.WORKER_LOST
    assert "SIGABRT" in outcome.message


@pytest.mark.proves("EXEC-TIME-02", "CORE-TIME-01", "EXEC-CODE-10")
def test_the_deadline_of_the_session_is_kept_within_half_a_second_and_the_scene_is_as_before(engine: Engine) -> None:
    before = engine.full_hash()
    with engine.under(Policy(constraints=Constraints(call_seconds=0.5))):
        engine.session.contract.contract()
        began = time.perf_counter()
        # The session has the last word: a call may ask for less than its limit, never for more.
        outcome = engine.call("trial.misbehave", {"how": "run_away", "name": "Late"})
        spent = time.perf_counter() - began
    # How soon after it is measured by `make bench`; here only that nobody waits for what never ends, nor for the 60 s.
    assert outcome.fault is Fault.TOOL_TIMEOUT, (outcome.fault, outcome.message)
    assert 0.5 <= spent < 30
    assert codes(outcome) == ("timeout", "timeout")
    details = tool_result(outcome).details
    assert details["partial_work"]["kept"] == []
    assert details["partial_work"]["deadline_seconds"] == 0.5
    assert "cancelled" not in details
    assert outcome.fingerprint_after == before == engine.full_hash()


def test_a_render_that_takes_too_long_is_told_how_to_take_less(engine: Engine) -> None:
    engine.call("scene.set_render", {"engine": "CYCLES", "resolution": [4000, 4000], "samples": 4096})
    engine.call("camera.create", {"name": "Eye", "location": [0, -6, 0], "rotation_euler_deg": [90, 0, 0]})
    with engine.under(Policy(constraints=Constraints(render_seconds=1.0))):
        engine.session.contract.contract()
        # A part of the samples will not do.
        outcome = engine.call("render.still", {"camera": "Eye"}, determinism=Determinism.SEEDED)
    assert outcome.fault is Fault.TOOL_TIMEOUT
    cure = outcome.findings[0].cure or ""
    assert all(word in cure for word in ("engine", "samples", "smaller picture", "scene.set_render"))


@pytest.mark.proves("CORE-TIME-02", "CORE-TIME-03")
def test_a_cancelled_call_says_so_and_leaves_the_scene_as_before(engine: Engine) -> None:
    before = engine.full_hash()
    running, token = engine.underway("trial.misbehave", {"how": "run_away", "name": "Cancelled"})
    token.cancel()
    outcome = running.result(60)
    assert outcome.fault is Fault.CANCELLED
    assert codes(outcome) == ("timeout", "timeout")
    assert tool_result(outcome).details["cancelled"] is True
    assert outcome.fingerprint_after == before == engine.full_hash()


def test_a_call_that_is_cancelled_before_it_is_sent_does_nothing(engine: Engine) -> None:
    before, worker, token = engine.full_hash(), engine.scene.worker(), Announcing()
    token.cancel()
    outcome = engine.call("object.create_empty", {"name": "Never"}, cancel=token)
    assert outcome.fault is Fault.CANCELLED
    assert engine.full_hash() == before
    assert engine.scene.worker() is worker


def test_a_request_too_large_for_the_wire_is_refused_and_the_scene_goes_on(engine: Engine) -> None:
    before = engine.full_hash()
    outcome = engine.call("trial.misbehave", {"how": "nothing", "name": "x" * frames.MAX_FRAME})
    assert outcome.fault is Fault.LIMIT_EXCEEDED
    assert codes(outcome) == ("policy_refused", "contract_violation")
    assert engine.full_hash() == before


def test_an_export_that_cannot_be_brought_to_its_place_is_an_outcome(engine: Engine) -> None:
    (engine.place / "a-file").write_text("not a directory")
    outcome = engine.call("file.export", {"path": str(engine.place / "a-file" / "x.blend")})
    assert not outcome.ok and outcome.artifacts == ()
    assert codes(outcome)[0] in ("internal_error", "policy_refused")


def test_a_worker_with_too_much_in_its_scratch_brings_no_file_out(engine: Engine) -> None:
    before, target = engine.full_hash(), engine.place / "much.blend"
    large = engine.scene.worker().require_process().scratch / "left-by-blender"
    with large.open("wb") as file:
        file.truncate(5000 << 20)  # takes no room on the disk
    outcome = engine.call("file.export", {"path": str(target)})
    assert outcome.fault is Fault.LIMIT_EXCEEDED and "5000 MB in its scratch" in outcome.message
    assert not target.exists() and engine.full_hash() == before
    assert engine.do("file.export", {"path": str(target)}).artifacts == (str(target),)
