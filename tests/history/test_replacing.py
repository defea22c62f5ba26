"""A plan in the place of the last one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects.registry import parse_plan
from blendwright.engine.moves.commit_names import require_head
from blendwright.records.results import Preview
from blendwright.values.errors import Refusal
from blendwright.values.plan import Boundary, Plan
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.preview import preview as preview_alone
from blendwright.workspace.replace_plan import run_instead


def plan(request: str, *names: str, parent: str | None = None, boundary: Boundary | None = None) -> Plan:
    """Empties of these names, the last of them below `parent`."""
    operations: list[dict[str, Any]] = [
        {
            "operation_id": f"make{number}",
            "tool_name": "object.create_empty",
            "args": {"name": name},
            "depends_on": [],
            "safety_level": "safe_write",
        }
        for number, name in enumerate(names)
    ]
    if parent is not None:
        operations[-1]["args"]["parent"] = parent
    return parse_plan({"request_id": request, "operations": operations}, is_json=True, boundary=boundary)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenScene]:
    place = tmp_path_factory.mktemp("replacing")
    with blendwright.open(place / "workspace", roots=[place.parent]) as scene:
        yield scene


@pytest.fixture(autouse=True)
def _from_the_beginning(opened: OpenScene) -> None:
    opened.warm()
    opened.history.checkout(1)


def names(opened: OpenScene) -> set[str]:
    found: Any = opened.call("scene.find", name="*").result
    return {one["name"] for one in found["objects"]}


def test_the_last_plan_is_taken_back_first_and_earlier_ones_stay(opened: OpenScene) -> None:
    assert opened.run(plan("first", "Floor")).ok
    assert opened.run(plan("chairs", "A", "B", "C")).ok
    replaced = opened.journal.head
    report = run_instead(opened, plan("chairs again", "A", "D"))
    assert report.ok
    assert names(opened) == {"Floor", "A", "D"}
    assert replaced is not None
    opened.history.checkout(replaced.number)
    assert names(opened) == {"Floor", "A", "B", "C"}, "nothing is lost"


def test_undoing_the_new_plan_brings_the_replaced_one_back(opened: OpenScene, tmp_path: Path) -> None:
    """One plan at a time: back to the replaced one, then to before it; and forward again over both."""
    opened.history.switch("undoing", create_at="HEAD")
    assert opened.run(plan("table", "Top", "Leg")).ok
    assert opened.call("file.export", path=str(tmp_path / "out.blend")).ok
    replaced = opened.hash, require_head(opened.journal).number
    assert run_instead(opened, plan("long table", "Top", "Leg", "Leg 2", "Leg 3")).ok
    last = require_head(opened.journal).number
    moved = opened.history.undo_plan()
    assert (opened.hash, moved.commit.number) == replaced and moved.brought_back and moved.branch == "undoing"
    assert not opened.history.undo_plan().brought_back, "the file that was written is a plan of its own"
    assert undone(opened) == set()
    assert [opened.history.redo().commit.number for _ in range(3)][1:] == [replaced[1], last]
    assert names(opened) == {"Top", "Leg", "Leg 2", "Leg 3"}
    # A shorter one in place of it, and one in place of that: each is undone by itself.
    assert run_instead(opened, plan("stool", "Seat")).ok
    assert run_instead(opened, plan("bench", "Seat 2")).ok
    assert [sorted(undone(opened)) for _ in range(3)] == [["Seat"], ["Leg", "Leg 2", "Leg 3", "Top"], ["Leg", "Top"]]
    assert opened.journal.audit.verify().ok


def undone(opened: OpenScene) -> set[str]:
    opened.history.undo_plan()
    return names(opened)


def test_going_back_by_hand_replaces_nothing(opened: OpenScene) -> None:
    start = require_head(opened.journal).number
    assert opened.run(plan("by hand", "Top")).ok
    opened.history.checkout(start)
    assert opened.run(plan("by hand too", "Other")).ok
    assert opened.history.undo_plan().commit.number == start


def test_where_the_replaced_plan_was_given_up_undo_goes_behind_both(opened: OpenScene, tmp_path: Path) -> None:
    start = require_head(opened.journal).number
    # What a file brought cannot be made again: without its checkpoint, nothing leads to this commit.
    (tmp_path / "face.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert opened.call("file.import", path=str(tmp_path / "face.obj")).ok
    lost = require_head(opened.journal).number
    assert run_instead(opened, plan("kept", "Other")).ok
    assert lost in opened.history.gc(drop_other_lines=True).lost
    moved = opened.history.undo_plan()
    assert moved.commit.number == start and not moved.brought_back


def test_the_same_ids_with_other_arguments_are_no_conflict(opened: OpenScene) -> None:
    assert opened.run(plan("stairs", "Step")).ok
    assert run_instead(opened, plan("stairs", "Higher")).request_id == "stairs.2"
    assert names(opened) == {"Higher"}
    assert run_instead(opened, plan("stairs", "Step")).request_id == "stairs.3"
    assert names(opened) == {"Step"}


def test_a_plan_that_only_wrote_files_is_not_the_last_one(opened: OpenScene, tmp_path: Path) -> None:
    assert opened.run(plan("floor", "Floor")).ok
    assert opened.run(plan("chairs here", "A")).ok
    head = opened.journal.head
    assert opened.call("file.export", path=str(tmp_path / "out.blend")).ok
    assert opened.journal.head != head, "what is written is in the history"
    assert run_instead(opened, plan("chairs there", "B")).ok
    assert names(opened) == {"Floor", "B"}


def test_what_was_undone_runs_again(opened: OpenScene) -> None:
    assert opened.run(plan("undone", "Step")).ok
    opened.history.undo_plan()
    refused = opened.run(plan("undone", "Step"))
    assert "--request-id" in (refused.operations[0].findings[0].cure or "")
    assert run_instead(opened, plan("undone", "Step")).request_id == "undone.2"
    assert names(opened) == {"Step"}


@pytest.mark.parametrize(
    "wrong",
    [
        plan("refused", "", boundary="plan"),
        plan("failed", "New", "Newer", parent="Nobody", boundary="plan"),
    ],
    ids=["refused before it runs", "taken back"],
)
def test_where_nothing_of_the_new_one_stands_the_last_one_is_there_again(opened: OpenScene, wrong: Plan) -> None:
    assert opened.run(plan(f"last {wrong.request_id}", "Old")).ok
    before, head = opened.hash, opened.journal.head
    report = run_instead(opened, wrong)
    assert not report.ok
    assert names(opened) == {"Old"}
    assert opened.hash == before
    assert opened.journal.head == head
    assert report.scene_hash_after in (None, before)


def test_without_a_plan_before_it_it_is_just_run(opened: OpenScene) -> None:
    assert run_instead(opened, plan("only", "Lone")).ok
    assert names(opened) == {"Lone"}


def told(preview: Preview) -> dict[str, list[str]]:
    """The objects that a preview names."""
    found = preview.differences.difference
    sorts = {"created": found.created, "removed": found.removed, "changed": found.changed}
    return {sort: [one.name for one in entries if one.kind == "objects"] for sort, entries in sorts.items()}


def test_a_preview_shows_what_the_new_plan_would_make_of_the_scene_as_it_is(opened: OpenScene) -> None:
    assert opened.run(plan("ground", "Floor")).ok
    assert opened.run(plan("seen", "A", "B")).ok
    assert opened.run(plan("not replaced", "E")).ok
    opened.history.undo_plan()
    before = opened.hash, opened.journal.head, opened.journal.moves(limit=1)
    new = plan("seen", "B", "C", "D", parent="B")
    preview = opened.preview(new, instead=True)
    # Alike and under another name: what the comparison takes for a renamed one.
    assert [(one.old, one.name) for one in preview.differences.difference.renamed] == [("A", "C")]
    assert preview.ok and told(preview) == {"created": ["D"], "removed": [], "changed": []}
    assert (opened.hash, opened.journal.head, opened.journal.moves(limit=1)) == before, "only a copy was moved"
    report = run_instead(opened, new)
    assert report.scene_hash_after == preview.report.scene_hash_after == opened.hash
    assert not opened.preview(new).ok, "its ids are taken now"
    assert told(opened.preview(new, instead=True)) == {"created": [], "removed": [], "changed": []}


def test_a_preview_of_what_fails_leaves_the_last_plan_there(opened: OpenScene) -> None:
    assert opened.run(plan("stays", "Old")).ok
    preview = opened.preview(plan("fails", "New", "Newer", parent="Nobody", boundary="plan"), instead=True)
    assert not preview.ok and told(preview) == {"created": [], "removed": [], "changed": []}
    assert preview.report.scene_hash_after == opened.hash


def test_a_preview_without_a_plan_before_it_is_a_plain_one(opened: OpenScene, tmp_path: Path) -> None:
    assert told(opened.preview(plan("first of all", "Lone"), instead=True))["created"] == ["Lone"]
    assert told(preview_alone(plan("none", "Lone"), tmp_path / "nothing", instead=True))["created"] == ["Lone"]
    assert not (tmp_path / "nothing").exists()


def test_who_may_not_go_back_may_not_replace(tmp_path: Path) -> None:
    """What a run would refuse or ask about, its preview says."""
    policies = {"deny": "POLICY_BLOCKED", "ask": None}
    for verdict, code in policies.items():
        place = tmp_path / verdict
        place.mkdir()
        with blendwright.open(place, spare=False) as scene:
            assert scene.run(plan("first", "Old")).ok
        (place / "blendwright.toml").write_text(f'[policy.tools]\n"history.checkout" = "{verdict}"\n')
        preview = preview_alone(plan("second", "New"), place, instead=True)
        found = [finding.fault.value for finding in preview.report.all_findings()]
        assert found == ([] if code is None else [code])
        assert any("history.checkout" in question for question in preview.asks) is (verdict == "ask")


def moved(request: str, name: str, height: float) -> Plan:
    """Something that comes after: an object that is there is put elsewhere."""
    operation: dict[str, Any] = {
        "operation_id": "move",
        "tool_name": "object.transform",
        "args": {"object": name, "location": [0.0, 0.0, height]},
        "depends_on": [],
        "safety_level": "safe_write",
    }
    return parse_plan({"request_id": request, "operations": [operation]}, is_json=True)


def height_of(opened: OpenScene, name: str) -> float:
    found: Any = opened.call("object.inspect", object=name).result
    return found["location"][2]


def test_what_came_after_an_earlier_plan_is_run_again_on_top_of_the_new_one(opened: OpenScene, tmp_path: Path) -> None:
    opened.history.switch("keeping", create_at="HEAD")
    assert opened.run(plan("walls", "Wall", "Old wall")).ok
    assert opened.run(moved("raise", "Wall", 3.0)).ok
    assert opened.call("file.export", path=str(tmp_path / "out.blend")).ok
    assert opened.run(plan("roof", "Roof")).ok
    before = opened.hash, require_head(opened.journal).number
    new = plan("walls", "Wall", "Door")
    preview = opened.preview(new, instead="walls")
    assert (opened.hash, require_head(opened.journal).number) == before
    report = run_instead(opened, new, of="walls")
    assert report.ok and report.request_id == "walls.2"
    assert [note.split(" (")[0] for note in report.notes] == ["Run again after it: raise", "Run again after it: roof"]
    assert names(opened) == {"Wall", "Door", "Roof"} and height_of(opened, "Wall") == 3.0
    assert report.scene_hash_after == opened.hash == preview.report.scene_hash_after
    requests = [span.request_id for span in opened.journal.plan_spans(limit=3)]
    assert requests == ["roof.2", "raise.2", "walls.2"], "and the file is not written a second time"
    # Once more: numbers go on, and do not pile up.
    assert run_instead(opened, plan("walls", "Wall"), of="walls.2").ok
    requests = [span.request_id for span in opened.journal.plan_spans(limit=3)]
    assert requests == ["roof.3", "raise.3", "walls.3"] and names(opened) == {"Wall", "Roof"}
    # It was one act, so it is undone as one.
    assert undone(opened) == {"Wall", "Door", "Roof"}
    assert opened.history.undo_plan().brought_back
    assert (opened.hash, require_head(opened.journal).number) == before
    assert opened.journal.audit.verify().ok and opened.journal.branches.current() == "keeping"


def test_where_something_that_came_after_no_longer_works_nothing_is_replaced(opened: OpenScene) -> None:
    assert opened.run(plan("posts", "Post")).ok
    assert opened.run(moved("lift", "Post", 2.0)).ok
    before = opened.hash, opened.journal.head
    report = run_instead(opened, plan("posts", "Pillar"), of="posts")
    assert report.status == "rolled_back" and (opened.hash, opened.journal.head) == before
    [found] = report.findings
    assert found.fault.value == "TARGET_NOT_FOUND"
    assert found.message.startswith(
        "object.transform of request lift, which came after the replaced plan, cannot be run again: "
    )
    assert not opened.preview(plan("posts", "Pillar"), instead="posts").ok
    half = run_instead(opened, plan("posts", "Post", "Beam", parent="Nobody"), of="posts")
    assert [one.status for one in half.operations] == ["rolled_back", "failed"], "nothing of it is told as done"
    assert (opened.hash, opened.journal.head) == before
    assert names(opened) == {"Post"} and report.scene_hash_after == opened.hash


def test_what_is_not_to_be_run_again_is_said_before_anything_happens(opened: OpenScene, tmp_path: Path) -> None:
    assert opened.run(plan("base", "Base")).ok
    with pytest.raises(Refusal, match="no plan 'nothing' led to this scene"):
        run_instead(opened, plan("base", "Other"), of="nothing")
    assert opened.call("file.export", path=str(tmp_path / "edited.blend")).ok
    assert opened.run(plan("more", "More")).ok
    assert opened.history.adopt(tmp_path / "edited.blend") is not None
    before = opened.hash, opened.journal.head
    with pytest.raises(Refusal, match="adopted a whole scene"):
        run_instead(opened, plan("base", "Other"), of="base")
    assert (opened.hash, opened.journal.head) == before


def test_code_that_came_after_is_run_again_too(opened: OpenScene) -> None:
    assert opened.run(plan("frame", "Frame")).ok
    code = "import bpy\nbpy.data.objects['Frame'].location.z = 5.0\n"
    assert opened.call("python.run", code=code).ok
    assert run_instead(opened, plan("frame", "Frame", "Pane"), of="frame").ok
    assert names(opened) == {"Frame", "Pane"} and height_of(opened, "Frame") == 5.0
