"""Merges that the random ones do not meet: what cannot be run again, what looked at more than it names, and merges after merges."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import blendwright
from blendwright.history.merge import merge, plan_merge
from blendwright.tools.object.transform import Transform
from blendwright.tools.render.still import Still
from blendwright.values.errors import Refusal
from blendwright.workspace.open_scene import OpenScene
from support.engine.engine import UNASKED

TRIANGLE = "o Triangle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenScene]:
    place = tmp_path_factory.mktemp("merging")
    (place / "triangle.obj").write_text(TRIANGLE)
    with blendwright.open(place / "w", spare=True, policy=UNASKED, roots=[place]) as opened:
        for name in ("A", "B"):
            do(opened, "mesh.create_primitive", kind="cube", name=name)
        do(opened, "scene.set_render", engine="WORKBENCH")
        opened.history.set_tag("base")
        yield opened


def do(opened: OpenScene, tool: str, **args: Any) -> None:
    done = opened.call(tool, **args)
    assert done.ok, done.message


def on(opened: OpenScene, name: str, *calls: tuple[str, dict[str, Any]]) -> None:
    """A branch of its own from the base on."""
    opened.history.switch(name, create_at="base")
    for tool, args in calls:
        do(opened, tool, **args)


def test_what_looked_at_more_than_it_names_is_found_by_the_rehearsal(opened: OpenScene) -> None:
    on(opened, "copied", ("object.duplicate", {"object": "A", "new_name": "Copy", "mode": "deep"}))
    on(opened, "shaded", ("mesh.shade", {"object": "A", "shading": "smooth"}))
    head = opened.journal.head_number
    planned = plan_merge(opened.journal.workspace, "copied")
    with pytest.raises(Refusal) as caught:
        merge(opened, "copied")
    assert planned.conflicts or "depends on data that the other line changed" in caught.value.findings[0].message
    assert opened.journal.head_number == head


def test_what_cannot_be_run_again_is_refused_on_either_side(opened: OpenScene) -> None:
    path = str(opened.journal.workspace.parent / "triangle.obj")
    on(opened, "imported", ("file.import", {"path": path}))
    on(opened, "plain", ("object.transform", {"object": "B", "location": [1, 0, 0]}))
    for here, other in (("plain", "imported"), ("imported", "plain")):
        opened.history.switch(here)
        plan = plan_merge(opened.journal.workspace, other)
        assert not plan.ok and plan.unmergeable[0].commit.tool == "file.import" and plan.unmergeable[0].side
        with pytest.raises(Refusal, match="cannot run again"):
            merge(opened, other)


def test_a_picture_of_an_older_version_is_in_nobodys_way(opened: OpenScene, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = ("render.still", {"view": "TOP", "resolution": [16, 16]})
    on(opened, "moved", ("object.transform", {"object": "B", "location": [2, 0, 0]}), picture)
    on(opened, "pictured", ("object.transform", {"object": "A", "location": [2, 0, 0]}), picture)
    monkeypatch.setattr(Still, "version", Still.version + 1)
    plan = plan_merge(opened.journal.workspace, "moved")
    assert plan.ok and [commit.tool for commit in plan.taken] == ["object.transform"], plan.unmergeable
    monkeypatch.setattr(Transform, "version", Transform.version + 1)
    stuck = plan_merge(opened.journal.workspace, "moved").unmergeable
    assert {one.side for one in stuck} == {"ours", "theirs"} and "another version" in stuck[0].why


def test_merges_of_merges_take_each_commit_once(opened: OpenScene) -> None:
    on(opened, "left", ("object.transform", {"object": "A", "location": [0, 0, 1]}))
    on(opened, "right", ("object.transform", {"object": "B", "location": [0, 0, 2]}))
    first = merge(opened, "left")
    assert len(first.taken) == 1 and first.ok
    opened.history.switch("left")
    second = merge(opened, "right")
    assert [origin for origin, _ in second.taken] == [first.plan.ours], "what came from here is not taken back"
    assert second.scene_hash == first.scene_hash
    do(opened, "object.transform", object="A", location=[0, 0, 5])
    opened.history.switch("right")
    third = merge(opened, "left")
    assert len(third.taken) == 1 and merge(opened, "left").plan.kind == "up_to_date"
    result = opened.call("object.inspect", object="A").result
    assert result is not None and result["location"] == [0.0, 0.0, 5.0]


def test_a_line_that_did_nothing_goes_on_with_the_other(opened: OpenScene) -> None:
    on(opened, "ahead", ("object.transform", {"object": "B", "location": [3, 0, 0]}))
    opened.history.switch("behind", create_at="base")
    merged = merge(opened, "ahead")
    assert merged.plan.kind == "fast_forward" and merged.head == opened.journal.head_number
    assert {one.name: one.commit for one in opened.journal.branches.listed()}["behind"] == merged.head
    assert opened.journal.branches.current() == "behind"


def test_a_merge_that_fails_half_way_leaves_nothing(opened: OpenScene, monkeypatch: pytest.MonkeyPatch) -> None:
    on(opened, "more", *(("object.transform", {"object": "B", "location": [n, 0, 0]}) for n in (1, 2)))
    on(opened, "less", ("object.transform", {"object": "A", "location": [1, 1, 1]}))
    head, scene = opened.journal.head_number, opened.hash

    def another(self: object, plan: object) -> str:
        return "another hash"

    monkeypatch.setattr("blendwright.history.merge._Rehearsal.run", another)
    with pytest.raises(Refusal, match="another scene than its rehearsal"):
        merge(opened, "more")
    assert opened.journal.head_number == head and opened.hash == scene
