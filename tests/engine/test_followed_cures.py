"""The cures that need Blender, a person or both are followed, and lead to something that works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.engine.files.access import FileAccess
from blendwright.engine.options import RunOptions
from blendwright.journal.approvals import answer
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.values.approval import NOBODY, ApprovalAnswer, Approver
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from support.engine.people import Person
from support.plans.documents import box

NOBODY_THERE = RunOptions(approver=NOBODY)


def says(verdict: ApprovalAnswer) -> RunOptions:
    return RunOptions(approver=Approver(Person(verdict)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cures")


@pytest.fixture(scope="module")
def scene(place: Path) -> Iterator[blendwright.OpenScene]:
    rules = Rules(tools={"python.run": Verdict.ASK}, trusted_python="ask", roots={str(place): Verdict.ALLOW})
    with blendwright.open(place / "workspace", policy=Policy(policy=rules)) as scene:
        yield scene


def plan(id: str, tool: str, args: dict[str, Any], level: str = "safe_write") -> dict[str, Any]:
    return {"request_id": id, "operations": [box("a", tool_name=tool, args=args, safety_level=level)]}


def refused_by(findings: Any, rule: str) -> Finding:
    [finding] = findings
    assert finding.rule == rule and finding.cure
    return finding


def test_a_file_is_imported_by_a_plan_and_by_a_call_alike(scene: blendwright.OpenScene, place: Path) -> None:
    assert scene.call("mesh.create_primitive", kind="cube", name="Crate").ok
    for extension in ("obj", "glb"):
        path = str(place / f"crate.{extension}")
        assert scene.call("file.export", path=path, objects=["Crate"]).ok
        args = {"path": path, "on_collision": "rename"}
        report = scene.run(plan(f"import {extension}", "file.import", args))
        assert report.ok, list(report.all_findings())
        receipt, number = report.operations[0].receipt, report.operations[0].commit
        assert receipt is not None and number is not None
        commit = scene.journal.show(number)
        pinned = scene.journal.checkpoints.route(number).checkpoint
        assert commit.replayable or (pinned is not None and pinned.commit == number)
        assert receipt["determinism_class"] in ("deterministic", "nondeterministic")
        assert scene.call("file.import", **args).ok


def test_the_name_that_was_meant_is_called(scene: blendwright.OpenScene) -> None:
    outcome = scene.outcome("object.create_emty", {"name": "Pole"})
    assert (refused_by(outcome.findings, "tool_unknown").cure or "").startswith("Did you mean 'object.create_empty'")
    assert scene.outcome("object.create_empty", {"name": "Pole"}).ok


def test_what_a_person_must_allow_runs_once_it_is_allowed(scene: blendwright.OpenScene, place: Path) -> None:
    assert scene.call("object.create_empty", name="Doomed").ok
    document = plan("doom", "object.delete", {"name": "Doomed"}, "destructive")
    finding = refused_by(scene.run(document, NOBODY_THERE).all_findings(), "approval_missing")
    assert finding.cure is not None
    id = finding.cure.split("blendwright approve ")[1].split()[0].strip("`.,:;")
    answer(place / "workspace", id, ApprovalAnswer.APPROVED, "blendwright approve")
    assert scene.run(document, NOBODY_THERE).ok


def test_what_was_declined_is_asked_about_anew(scene: blendwright.OpenScene) -> None:
    assert scene.call("object.create_empty", name="Doubtful").ok
    document = plan("doubt", "object.delete", {"name": "Doubtful"}, "destructive")
    refused_by(scene.run(document, says(ApprovalAnswer.DECLINED)).all_findings(), "approval_declined")
    assert scene.run(document, says(ApprovalAnswer.APPROVED)).ok


@pytest.mark.slow
def test_a_preview_runs_with_what_its_refusal_names_or_as_a_run_that_asks(scene: blendwright.OpenScene) -> None:
    document = plan("code", "python.run", {"code": "print(1)"})
    shown = scene.preview(document, NOBODY_THERE)
    finding = refused_by(shown.report.all_findings(), "preview_unasked")
    assert "--approve python.run" in (finding.cure or "")
    assert scene.preview(document, RunOptions(approver=Approver(grants=frozenset({"python.run"})))).ok
    assert scene.run(document, says(ApprovalAnswer.APPROVED)).ok


def test_trusted_code_has_a_safe_way_and_a_run_that_asks(scene: blendwright.OpenScene) -> None:
    trusted = {"code": "print(1)", "mode": "trusted"}
    yes = says(ApprovalAnswer.APPROVED)
    shown = scene.preview(plan("trusted", "python.run", trusted), yes)
    refused_by(shown.report.all_findings(), "trusted_unasked")
    assert scene.preview(plan("safe", "python.run", {"code": "print(1)"}), yes).ok
    assert scene.outcome("python.run", trusted, yes).ok


def test_less_output_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blendwright.engine.files.access.MOST_ENTRIES", 3)
    files, scratch = FileAccess({}, tmp_path / "artifacts"), tmp_path / "scratch"
    for number in range(4):
        (scratch / f"{number}").mkdir(parents=True)
    with pytest.raises(Refusal) as refusal:
        files.refuse_too_much(scratch)
    refused_by(refusal.value.findings, "scratch")
    (scratch / "3").rmdir()
    files.refuse_too_much(scratch)
