"""A user and plans in the same window: after every acknowledged plan the journal matches the window, and no edit is lost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.policy.policy import Policy, Rules
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest
from blendwright.values.errors import Refusal
from blendwright.window.attach import attach
from blendwright.window.panel import MAX_TEXT_CHARACTERS, WindowPanel
from window.playing import PlayedWindow


def cubes(request: str, *names: str, **args: Any) -> dict[str, Any]:
    """Return a plan that creates cubes."""
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"make_{name}",
            "tool_name": "mesh.create_primitive",
            "args": {"kind": "cube", "name": name, **args},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for name in names
    ]
    return {"request_id": request, "operations": operations}


def in_step(window: PlayedWindow, scene: blendwright.OpenScene) -> bool:
    head = scene.journal.head
    return head is not None and window.fingerprint() == head.hash_after


def test_one_ctrl_z_takes_back_one_plan_and_the_journal_follows(
    window: PlayedWindow, scene: blendwright.OpenScene
) -> None:
    before = window.fingerprint()
    report = scene.run(cubes("first", *[f"Box{number}" for number in range(100)]))
    assert report.status == "succeeded" and in_step(window, scene)
    assert window.ask("len(bpy.data.objects)") == 103
    head = scene.journal.head
    window.undo()
    assert window.fingerprint() == before and window.ask("len(bpy.data.objects)") == 3
    scene.call("scene.snapshot")
    assert in_step(window, scene) and head is not None and scene.journal.head != head
    window.redo()
    scene.call("scene.snapshot")
    assert in_step(window, scene) and scene.journal.head == head


EDITS = {
    "custom property": "bpy.data.objects['Cube']['rating'] = 5",
    "moved object": "bpy.data.objects['Cube'].location.x = 3",
    "new object": "bpy.context.collection.objects.link(bpy.data.objects.new('Hand', None))",
    "deleted": "bpy.data.objects.remove(bpy.data.objects['Light'])",
    "material": "bpy.data.materials['Material'].diffuse_color = (1, 0, 0, 1)",
    "modifier": "bpy.data.objects['Cube'].modifiers.new('Soft', 'SUBSURF')",
    "keyframe": "bpy.data.objects['Cube'].keyframe_insert('location', frame=7)",
    "renamed": "bpy.data.objects['Cube'].name = 'Crate'",
    "text": "bpy.data.texts.new('Notes').write('remember')",
    "world": "bpy.data.worlds['World'].color = (0, 0, 1)",
}


FEW = ("custom property", "deleted", "renamed")


@pytest.mark.parametrize("kinds", [FEW, pytest.param(tuple(EDITS), marks=pytest.mark.slow)], ids=["few", "all"])
def test_foreign_edits_of_every_kind_are_taken_in_and_kept(
    window: PlayedWindow, scene: blendwright.OpenScene, kinds: tuple[str, ...]
) -> None:
    for number, (kind, code) in enumerate((kind, EDITS[kind]) for kind in kinds):
        window.do(code)
        edited = window.fingerprint()
        report = scene.run(cubes(f"after {kind}", f"Box{number}"))
        assert report.status == "succeeded", (kind, report.findings)
        assert in_step(window, scene), kind
        head = scene.journal.head
        assert head is not None and head.parent is not None
        edit = scene.journal.show(head.parent)
        assert (edit.tool, edit.hash_after) == ("window.edit", edited), kind
        assert edit.receipt["by"] == "person" and edit.receipt["summary"], kind
    assert window.ask("bpy.data.objects['Crate'].get('rating')") == 5


def test_a_plan_that_needs_what_was_edited_is_refused_once(window: PlayedWindow, scene: blendwright.OpenScene) -> None:
    window.do("bpy.data.objects['Cube'].location.x = 3")
    move: dict[str, Any] = {
        "operation_id": "move",
        "tool_name": "object.transform",
        "args": {"object": "Cube", "location": [0, 0, 5]},
        "depends_on": [],
        "safety_level": "safe_write",
    }
    plan = {"request_id": "move", "operations": [move]}
    refused = scene.run(plan)
    assert refused.status != "succeeded" and "changed by hand" in str([*refused.all_findings()])
    assert window.ask("bpy.data.objects['Cube'].location.x") == 3 and in_step(window, scene)
    assert scene.run(plan).status == "succeeded" and in_step(window, scene)


def test_nothing_begins_in_edit_mode(window: PlayedWindow, scene: blendwright.OpenScene) -> None:
    window.mode("Cube", "EDIT")
    with pytest.raises(Refusal, match="edit mode"):
        scene.run(cubes("in edit mode", "Box"))
    window.mode("Cube", "OBJECT")
    assert scene.run(cubes("in edit mode", "Box")).status == "succeeded" and in_step(window, scene)


def test_a_failed_plan_leaves_the_window_as_it_was(window: PlayedWindow, scene: blendwright.OpenScene) -> None:
    before, head = window.fingerprint(), scene.journal.head
    plan = cubes("fails", "Box", "Cube")  # there is a Cube already
    report = scene.run({**plan, "operations": plan["operations"]}, boundary="plan")
    assert report.status != "succeeded"
    assert window.fingerprint() == before and scene.journal.head == head and in_step(window, scene)


def test_undo_on_the_command_line_is_ctrl_z(window: PlayedWindow, scene: blendwright.OpenScene) -> None:
    before = window.fingerprint()
    scene.run(cubes("one", "A", "B"))
    moved = scene.history.undo()
    assert window.fingerprint() == before == moved.commit.hash_after
    assert scene.history.redo().commit.hash_after == window.fingerprint() != before


def test_the_file_has_nothing_of_ours(window: PlayedWindow, scene: blendwright.OpenScene, tmp_path: Path) -> None:
    scene.run(cubes("one", "A", "B"))
    scene.call("object.delete", object="A")
    window.save(tmp_path / "theirs.blend")
    assert b"~bw~" not in (tmp_path / "theirs.blend").read_bytes()
    assert window.file() == str(tmp_path / "theirs.blend")


def test_the_person_is_asked_in_the_sidebar(window: PlayedWindow, tmp_path: Path) -> None:
    attach(tmp_path / "workspace")
    with blendwright.open(tmp_path / "workspace") as scene:
        for answer in ("decline", "approve"):
            window.answer_next(answer)
            deleted = scene.call("object.delete", object="Light")
            assert deleted.ok is (answer == "approve"), deleted.message
            assert window.ask("'Light' in bpy.data.objects") is (answer != "approve")
        assert in_step(window, scene)
        shown = window.ask("session().status.plans")
        assert [plan["state"] for plan in shown[:2]] == ["succeeded", "failed"]


def test_trusted_code_is_refused_in_a_window_and_has_a_safe_way(window: PlayedWindow, tmp_path: Path) -> None:
    attach(tmp_path / "workspace")
    policy = Policy(policy=Rules(trusted_python="ask"))
    code = "import bpy; bpy.data.objects['Cube'].location.z = 4"
    with blendwright.open(tmp_path / "workspace", policy=policy) as scene:
        window.answer_next("approve")
        refused = scene.outcome("python.run", {"code": code, "mode": "trusted"})
        assert [finding.rule for finding in refused.findings] == ["trusted_in_window"]
        assert window.ask("bpy.data.objects['Cube'].location.z") == 0
        assert scene.outcome("python.run", {"code": code, "mode": "safe"}).ok
        assert window.ask("bpy.data.objects['Cube'].location.z") == 4 and in_step(window, scene)


def shown_in_the_sidebar(monkeypatch: pytest.MonkeyPatch) -> list[ApprovalRequest]:
    """Replace the display of the window's panel, and return the list to which it adds each question."""
    shown: list[ApprovalRequest] = []

    def show(panel: WindowPanel, requests: Sequence[ApprovalRequest]) -> None:
        shown.extend(requests)

    monkeypatch.setattr(WindowPanel, "_show", show)
    return shown


def test_what_does_not_go_into_the_sidebar_whole_is_not_asked_there(monkeypatch: pytest.MonkeyPatch) -> None:
    panel, questions = WindowPanel({}), shown_in_the_sidebar(monkeypatch)
    code = " " * MAX_TEXT_CHARACTERS + "import os"
    request = ApprovalRequest("1", "h", "r", "o", "python.run", "safe_write", "run", (), time.time() + 60, shown=code)
    assert panel.ask(request) is ApprovalAnswer.NONE
    assert questions == []


def test_the_sidebar_is_shown_every_path_outputs_first_or_points_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = f'python.run\nwrites "/home/x/thesis.blend"\nreads "/in/{"m" * 300}.glb"\nwith {{}}'
    shown = shown_in_the_sidebar(monkeypatch)
    request = ApprovalRequest("1", "h", "r", "o", "python.run", "destructive", summary, ("a rule",), time.time() + 60)
    panel = WindowPanel({})
    assert panel.ask(request) is ApprovalAnswer.NONE and [one.what for one in shown] == [summary]
    panel.ask(replace(request, shown="x" * MAX_TEXT_CHARACTERS))
    assert len(shown) == 1
    assert "blendwright approve" in str(panel.__dict__["_plans"][0]["label"])
