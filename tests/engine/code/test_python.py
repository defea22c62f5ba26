"""python.run through the whole engine: safe code as a function from scene to scene, trusted code after a person has allowed it."""

from __future__ import annotations

import os
import select
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.calls import call
from blendwright.engine.code import sandbox_run as apart
from blendwright.engine.preview import PreviewApprovals
from blendwright.engine.runner import Runner
from blendwright.engine.scene.rebuild import replay
from blendwright.policy.policy import LimitsAsked, Policy, Rules
from blendwright.policy.session_contract import Proposal
from blendwright.server.transport.elicitation import PendingApproval
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer, Approver
from blendwright.values.faults import Fault
from support.engine.engine import Engine
from support.engine.people import Person
from support.plans.documents import box, of_operations

TRUSTING = Policy(policy=Rules(trusted_python="ask"))
MAKE = "import bpy\nbpy.context.scene.collection.objects.link(bpy.data.objects.new('{name}', None))\nprint('made {name}')\n"


ENGINE_CALLS = (("mesh.create_primitive", {"kind": "cube", "name": "Crate"}),)


def unread(code: str, *, trusted: bool, files: bool = False) -> tuple[()]:
    """Code that nobody reads: the confinement is the boundary, not the reading."""
    return ()


def ended(pid: int) -> bool:
    """Whether a process is at its end, or comes to it soon."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return select.select([descriptor], [], [], 10)[0] != []
    finally:
        os.close(descriptor)


def failed(engine: Engine, args: dict[str, Any], fault: Fault, **options: Any) -> str:
    """A call that fails for this reason and leaves everything as it was; its message."""
    before, head = engine.scene.hash, engine.head().number
    outcome = engine.call("python.run", args, **options)
    assert outcome.fault is fault, (outcome.fault, outcome.message)
    assert (engine.scene.hash, engine.head().number) == (before, head)
    assert engine.full_hash() == before
    assert all(finding.cure for finding in outcome.findings)
    return outcome.message


@pytest.mark.proves("GN-PY-01")
def test_safe_is_the_default_and_its_result_becomes_the_scene_with_a_checkpoint(engine: Engine) -> None:
    before, pid = engine.scene.hash, engine.scene.worker().profile.pid
    outcome = engine.do("python.run", {"code": MAKE.format(name="First")})
    assert outcome.result == {"mode": "safe", "output": "made First\n", "truncated": False}
    assert {"kind": "objects", "name": "First", "change": "created"} in outcome.changes
    assert engine.scene.hash == engine.full_hash() == outcome.fingerprint_after != before
    commit = engine.head()
    assert not commit.replayable
    assert engine.journal.checkpoints.route(commit.number).redo == ()
    assert engine.scene.worker().profile.pid == pid, "the scene's own process never ran the code"
    worker = engine.pool.take()
    assert replay(worker, engine.journal).ok
    worker.abandon()
    engine.kill_worker()
    assert engine.full_hash() == outcome.fingerprint_after
    engine.do("object.transform", {"name": "First", "location": [1, 2, 3]})


@pytest.mark.proves("GN-PY-02")
def test_the_process_that_ran_code_is_never_used_again(engine: Engine) -> None:
    code = "import os, bpy\nbpy.app.driver_namespace['mark'] = 1\nprint(os.getpid())"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blendwright.tools.python.run.check_code", unread)
        outcomes = [engine.do("python.run", {"code": code}) for _ in range(2)]
    pids = {int((outcome.result or {})["output"]) for outcome in outcomes}
    assert len(pids) == 2 and engine.scene.worker().profile.pid not in pids
    assert all(ended(pid) for pid in pids)
    assert engine.head().hash_before == engine.head().hash_after


@pytest.mark.proves("GN-PY-05")
def test_an_exception_is_told_with_its_line_what_was_printed_and_no_paths(engine: Engine) -> None:
    code = MAKE.format(name="Lost") + "def f():\n    return 1 / 0\nf()\n"
    message = failed(engine, {"code": code}, Fault.EXECUTION_FAILED)
    assert message.startswith("line 5: the code raised ZeroDivisionError") and "made Lost" in message
    message = failed(
        engine, {"code": "import bpy, json\nraise ValueError(bpy.app.binary_path_python, json)"}, Fault.EXECUTION_FAILED
    )
    assert str(engine.place) not in message and str(Path.home()) + "/" not in message
    assert failed(engine, {"code": "raise SystemExit(0)"}, Fault.EXECUTION_FAILED)
    assert failed(engine, {"code": "x = (", "mode": "safe"}, Fault.ARGS_INVALID).startswith("line 1: ")


def test_what_code_prints_does_not_tell_where_it_ran(engine: Engine) -> None:
    code = "import json, os, sys\nprint(json.__file__, os.getcwd(), sys.prefix, sys.base_prefix)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("blendwright.tools.python.run.check_code", unread)
        outcome = engine.do("python.run", {"code": code})
    said = (outcome.result or {})["output"]
    assert "json" in said
    assert not any(place in said for place in (str(engine.place), sys.prefix, sys.base_prefix)), said


@pytest.mark.proves("GN-PY-03")
def test_code_past_its_time_is_ended(engine: Engine) -> None:
    message = failed(engine, {"code": "while True: pass", "timeout_ms": 300}, Fault.TOOL_TIMEOUT)
    assert "0.3 s" in message
    assert engine.call("python.run", {"code": "while True: pass"}, timeout=0.3).fault is Fault.TOOL_TIMEOUT
    token = CancelToken()
    threading.Timer(1.0, token.cancel).start()
    failed(engine, {"code": "while True: pass", "timeout_ms": 60_000}, Fault.CANCELLED, cancel=token)


@pytest.mark.proves("EXEC-PARTIAL-02")
def test_output_is_cut_and_says_so(engine: Engine) -> None:
    outcome = engine.do("python.run", {"code": "for i in range(30000): print('x' * 99)"})
    assert outcome.result is not None
    assert len(outcome.result["output"]) == 65_536 and outcome.result["truncated"]


@pytest.mark.proves("GN-PY-06")
def test_code_is_bounded_by_the_contract(engine: Engine) -> None:
    failed(engine, {"code": "#" * 20_001}, Fault.LIMIT_EXCEEDED)
    with engine.under(proposal=Proposal(limits=LimitsAsked(python_code_chars=10))):
        failed(engine, {"code": "#" * 11}, Fault.LIMIT_EXCEEDED)


@pytest.mark.slow
def test_code_that_the_scene_had_before_may_stay_but_not_change(tmp_path: Path) -> None:
    trusted = (
        "import bpy\nt = bpy.data.texts.new('own.py')\nt.write('pass')\nt.use_module = True\n"
        "o = bpy.data.objects.new('D', None)\nbpy.context.scene.collection.objects.link(o)\n"
        "o.driver_add('location', 0).driver.expression = 'int(frame) if frame else 0'\n"
    )
    with Engine(tmp_path, spare=False) as engine, engine.under(TRUSTING):
        engine.do(
            "python.run", {"code": trusted, "mode": "trusted"}, approver=Approver(Person(ApprovalAnswer.APPROVED))
        )
        engine.do("python.run", {"code": "import bpy\nbpy.data.objects['D'].location.y = 2"})
        failed(engine, {"code": "import bpy\nbpy.data.texts['own.py'].write('evil()')"}, Fault.POLICY_BLOCKED)


def test_trusted_code_cannot_hide_from_the_person_who_is_asked(engine: Engine) -> None:
    code = "import os; os.remove('x') # \x1b[1A\x1b[2K\u202e\nprint('hello')"
    person = Person(ApprovalAnswer.DECLINED)
    with engine.under(TRUSTING):
        failed(engine, {"code": code, "mode": "trusted"}, Fault.POLICY_BLOCKED, approver=Approver(person))
    (asked,) = person.asked
    assert asked.shown == "import os; os.remove('x') # \\x1b[1A\\x1b[2K\\u202e\nprint('hello')"
    assert "\u202e" not in asked.what and "\\u202e" in asked.what
    assert PendingApproval((asked,)).message.endswith(asked.shown)


PAINT = """import bpy
image = bpy.data.images.new('{name}', 4, 4, float_buffer={float}, stereo3d={stereo})
image.pixels[:] = [0.25, 0.5, 7.5, 1.0] * 16
"""


@pytest.mark.parametrize(
    ("mode", "deep"),
    [
        ("safe", False),
        pytest.param("trusted", True, marks=pytest.mark.slow),
        pytest.param("safe", True, marks=pytest.mark.slow),
        pytest.param("trusted", False, marks=pytest.mark.slow),
    ],
)
def test_pixels_that_code_paints_are_kept(engine: Engine, mode: str, deep: bool) -> None:
    name, look = f"{mode} {deep}", "import bpy\nprint([round(v, 1) for v in bpy.data.images['{name}'].pixels[:4]])"
    paint = PAINT.format(name=name, float=deep, stereo=False)
    with engine.under(TRUSTING):
        engine.do("python.run", {"code": paint, "mode": mode}, approver=Approver(Person(ApprovalAnswer.APPROVED)))
    again = f"import bpy\nbpy.data.images['{name}'].pixels[0] = 1.0"
    engine.do("python.run", {"code": again})
    engine.kill_worker()
    output = (engine.do("python.run", {"code": look.format(name=name)}).result or {})["output"]
    assert output == f"[1.0, 0.5, {7.5 if deep else 1.0}, 1.0]\n"
    assert engine.full_hash() == engine.scene.hash


def test_pixels_that_cannot_be_kept_fail_the_code(engine: Engine) -> None:
    message = failed(engine, {"code": PAINT.format(name="Both eyes", float=False, stereo=True)}, Fault.EXECUTION_FAILED)
    assert "'Both eyes' cannot be packed" in message


@pytest.mark.proves("GN-PY-07")
def test_trusted_code_runs_once_for_each_yes_of_a_person_who_saw_it(engine: Engine) -> None:
    args = {"code": MAKE.format(name="Trusted"), "mode": "trusted"}
    failed(engine, args, Fault.POLICY_BLOCKED)
    with engine.under(TRUSTING):
        blanket = Approver(grants=frozenset({"python.run", "safe_write", "destructive", "headless_safe"}))
        assert "approve" in (engine.call("python.run", args, approver=blanket).findings[0].cure or "")
        failed(engine, args, Fault.POLICY_BLOCKED, approver=Approver(Person(ApprovalAnswer.DECLINED)))
        person = Person(ApprovalAnswer.APPROVED)
        pid = engine.scene.worker().profile.pid
        outcome = engine.do("python.run", args, approver=Approver(person))
        assert [(one.shown, one.in_person) for one in person.asked] == [(args["code"], True)]
        assert outcome.result is not None and outcome.result["mode"] == "trusted"
        assert engine.scene.worker().profile.pid != pid, "a clean process has taken over"
        assert engine.full_hash() == engine.scene.hash == outcome.fingerprint_after
        assert not engine.head().replayable and not engine.journal.recovery.indeterminate()
        failed(engine, args, Fault.POLICY_BLOCKED)
        person = Person(ApprovalAnswer.APPROVED)
        bad = {"code": MAKE.format(name="Half") + "1/0", "mode": "trusted"}
        pid = engine.scene.worker().profile.pid
        assert failed(engine, bad, Fault.EXECUTION_FAILED, approver=Approver(person)).startswith("line 4: ")
        assert engine.scene.worker().profile.pid != pid, "a process that ran code which failed is not used again either"


def test_trusted_code_does_not_run_where_nobody_is_asked(engine: Engine) -> None:
    with engine.under(TRUSTING):
        session = engine.new_session(approvals=PreviewApprovals(engine.journal, engine.files))
        outcome = call(Runner(session), "python.run", {"code": "print(1)", "mode": "trusted"})
    assert outcome.fault is Fault.POLICY_BLOCKED and outcome.findings[0].rule == "trusted_unasked"


def test_safe_code_is_refused_where_the_process_is_not_fully_confined(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "FULL", "fuller")
    assert "not confined" in failed(engine, {"code": "print(1)"}, Fault.CAPABILITY_MISSING)


def test_code_works_in_plans_and_failing_code_takes_a_whole_plan_back(engine: Engine) -> None:
    good = box("one", tool_name="python.run", args={"code": MAKE.format(name="Planned")})
    report = engine.run(of_operations(good, request_id="python-plan"))
    assert report.ok, report
    assert report.operations[0].receipt and report.operations[0].receipt["determinism_class"] == "seeded"
    before = engine.scene.hash
    bad = box("two", "one", tool_name="python.run", args={"code": "1/0"})
    other = box("one", tool_name="python.run", args={"code": MAKE.format(name="Other")})
    whole = replace(of_operations(other, bad, request_id="python-whole"), boundary="plan")
    assert not engine.run(whole).ok
    assert engine.scene.hash == before == engine.full_hash()


@pytest.mark.parametrize("mode", ["safe", pytest.param("trusted", marks=pytest.mark.slow)])
def test_code_cannot_hide_what_it_makes_behind_a_reserved_name(engine: Engine, mode: str) -> None:
    engine.do("object.create_empty", {"name": f"Buried by {mode}"})
    engine.do("object.delete", {"name": f"Buried by {mode}"})  # ours, under such a name, and no reason to refuse
    with engine.under(TRUSTING):
        approver = Approver(Person(ApprovalAnswer.APPROVED))
        code = {"code": MAKE.format(name="~bw~o"), "mode": mode}
        assert "'~bw~o'" in failed(engine, code, Fault.EXECUTION_FAILED, approver=approver)
        engine.do("python.run", {"code": MAKE.format(name=f"Seen {mode}"), "mode": mode}, approver=approver)
