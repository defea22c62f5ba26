"""A preview goes round no rule that asks about running and reading; what a plan would destroy it shows without a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.engine.options import RunOptions
from blendwright.journal import approvals as kept
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.records.results import Preview
from blendwright.values.approval import NOBODY, ApprovalAnswer, Approver
from support.engine.people import Person
from support.plans.documents import box


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("asked")
    (made / "private").mkdir()
    return made


@pytest.fixture(scope="module")
def scene(place: Path) -> Iterator[blendwright.OpenScene]:
    roots = {str(place): Verdict.ALLOW, str(place / "private"): Verdict.ASK}
    policy = Policy(policy=Rules(tools={"python.run": Verdict.ASK, "render.*": Verdict.ASK}, roots=roots))
    with blendwright.open(place / "workspace", policy=policy) as scene:
        assert scene.run({"request_id": "made", "operations": [box("a")]}).ok
        yield scene


def plan(place: Path, id: str = "asked") -> dict[str, Any]:
    code = box("c", tool_name="python.run", args={"code": "print('secret')"})
    write = box("w", tool_name="file.export", args={"path": str(place / "private" / f"{id}.stl")})
    return {"request_id": id, "operations": [box("b"), code, write]}


def rules(shown: Preview) -> list[str | None]:
    return [finding.rule for finding in shown.report.all_findings()]


def test_where_nobody_can_be_asked_the_preview_is_refused_and_leaves_no_question(
    scene: blendwright.OpenScene, place: Path
) -> None:
    shown = scene.preview(plan(place), RunOptions(approver=NOBODY))
    assert shown.report.status == "refused" and rules(shown) == ["preview_unasked", "preview_unasked"]
    cures = " ".join(finding.cure or "" for finding in shown.report.all_findings())
    assert "--approve python.run" in cures and f"--approve {place / 'private'}" in cures
    assert "secret" not in str(shown.to_json()["report"]["operations"]) and scene.journal.approvals.listed() == ()


def test_a_person_is_asked_and_a_no_is_a_no(scene: blendwright.OpenScene, place: Path) -> None:
    person = Person(ApprovalAnswer.APPROVED)
    assert scene.preview(plan(place), RunOptions(approver=Approver(person))).ok
    assert [request.tool for request in person.asked] == ["python.run", "file.export"]
    shown = scene.preview(plan(place), RunOptions(approver=Approver(Person(ApprovalAnswer.DECLINED))))
    statuses = [operation.status for operation in shown.report.operations]
    assert statuses == ["succeeded", "refused", "skipped"] and rules(shown) == ["approval_declined"]


@pytest.mark.slow
def test_what_is_allowed_beforehand_is_not_asked_about(scene: blendwright.OpenScene, place: Path) -> None:
    grants = frozenset({"python.run", str(place / "private")})
    assert scene.preview(plan(place), RunOptions(approver=Approver(grants=grants))).ok
    assert rules(scene.preview(plan(place), RunOptions(approver=Approver(grants=frozenset({"python.run"}))))) == [
        "preview_unasked"
    ]


def test_a_picture_is_asked_about_too(scene: blendwright.OpenScene, place: Path) -> None:
    document = {"request_id": "picture", "operations": [box("p")]}
    image = place / "picture.png"
    shown = scene.preview(document, RunOptions(approver=NOBODY), image=image)
    assert shown.report.ok and shown.picture is not None and not image.exists()
    assert [finding.rule for finding in shown.picture.findings] == ["preview_unasked"]


def test_what_a_plan_would_destroy_is_shown_without_a_question(scene: blendwright.OpenScene) -> None:
    delete = box("d", tool_name="object.delete", args={"name": "Box a"}, safety_level="destructive")
    person = Person(ApprovalAnswer.DECLINED)
    shown = scene.preview({"request_id": "gone", "operations": [delete]}, RunOptions(approver=Approver(person)))
    assert shown.ok and not person.asked
    assert any(entry.name == "Box a" for entry in shown.differences.difference.removed)


def test_an_approval_for_the_run_counts_and_is_not_spent(scene: blendwright.OpenScene, place: Path) -> None:
    document = plan(place, "approved")
    assert scene.run(document, RunOptions(approver=NOBODY)).status == "refused"
    for waiting in scene.journal.approvals.listed():
        kept.answer(place / "workspace", waiting.request.id, ApprovalAnswer.APPROVED, "person")
    assert scene.preview(document, RunOptions(approver=NOBODY)).ok
    assert scene.run(document, RunOptions(approver=NOBODY)).ok


def test_what_a_run_would_ask_about_is_told_though_the_preview_does_not_ask(scene: blendwright.OpenScene) -> None:
    name = box("a")["args"]["name"]
    delete = box("d", tool_name="object.delete", args={"object": name}, safety_level="destructive")
    document = {"request_id": "deleting", "operations": [delete]}
    shown = scene.preview(document, RunOptions(approver=NOBODY))
    assert shown.ok and shown.asks == ("object.delete (policy.levels.destructive = ask)",)
    assert shown.to_json()["report"]["asks"] == list(shown.asks)
    granted = scene.preview(document, RunOptions(approver=Approver(grants=frozenset({"destructive"}))))
    assert granted.ok and granted.asks == ()
