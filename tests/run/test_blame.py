"""Datablocks are followed through what receipts say, under whatever names they had."""

from __future__ import annotations

from blendwright.records.changes import Change, ChangeKind, CommitChanges
from blendwright.records.touched import Followed, Follower


def commit(
    number: int,
    *changes: tuple[ChangeKind, str, str],
    tool: str = "object.transform",
    kind: str = "operation",
    complete: bool = True,
) -> CommitChanges:
    listed = tuple(Change(block, name, change) for change, block, name in changes)
    return CommitChanges(number, kind, tool, 1, {}, "r", str(number), True, listed, complete)


BASELINE = commit(1, tool="workspace.new", kind="baseline", complete=False)
MADE = commit(
    2, ("created", "member", "scene:Scene / Box"), ("created", "meshes", "Box"), ("created", "objects", "Box")
)
RENAMED = commit(4, ("removed", "objects", "Box"), ("created", "objects", "Crate"), tool="object.rename")


def told(followed: Followed | None) -> list[tuple[int, str, str]]:
    assert followed is not None
    return [(touch.commit, touch.name, touch.change) for touch in followed.all_touches]


def test_a_rename_is_followed_and_the_old_name_may_be_another_one() -> None:
    follower = Follower(
        [BASELINE, MADE, commit(3, ("changed", "objects", "Box")), RENAMED, commit(5, ("created", "objects", "Box"))]
    )
    assert told(follower.find("objects", "Crate")) == [
        (2, "Box", "created"),
        (3, "Box", "changed"),
        (4, "Crate", "renamed"),
    ]
    assert told(follower.find("objects", "Box")) == [(5, "Box", "created")]
    assert [one.name for one in follower.living("objects")] == ["Box", "Crate"]


def test_what_an_object_is_made_of_counts_for_it() -> None:
    follower = Follower([BASELINE, MADE, commit(3, ("changed", "meshes", "Box"), tool="mesh.edit"), RENAMED])
    assert told(follower.find("objects", "Crate")) == [
        (2, "Box", "created"),
        (3, "Box", "changed"),
        (4, "Crate", "renamed"),
    ]
    two = commit(
        2,
        ("created", "objects", "A"),
        ("created", "objects", "B"),
        ("created", "meshes", "A"),
        ("created", "meshes", "B"),
    )
    assert told(Follower([two, commit(3, ("changed", "meshes", "A"))]).find("objects", "A")) == [(2, "A", "created")]


def test_what_was_removed_is_still_known_and_what_comes_again_is_another() -> None:
    gone = commit(3, ("removed", "objects", "Box"), ("removed", "meshes", "Box"), tool="object.delete")
    follower = Follower([MADE, gone])
    assert told(follower.find("objects", "Box")) == [(2, "Box", "created"), (3, "Box", "removed")]
    assert follower.living("objects") == []
    again = Follower([MADE, gone, commit(4, ("created", "objects", "Box"))])
    assert told(again.find("objects", "Box")) == [(4, "Box", "created")]


def test_what_takes_the_place_of_its_namesake_is_changed() -> None:
    replaced = commit(3, ("removed", "meshes", "Box"), ("created", "meshes", "Box"), tool="mesh.boolean")
    assert told(Follower([MADE, replaced]).find("meshes", "Box")) == [(2, "Box", "created"), (3, "Box", "changed")]


def test_what_came_with_a_file_is_said_to() -> None:
    adopted = commit(4, kind="adopt", tool="workspace.adopt", complete=False)
    edited = commit(5, ("changed", "objects", "Lamp"), kind="adopt", tool="window.edit", complete=False)
    follower = Follower([BASELINE, MADE, commit(3, ("changed", "objects", "Lamp")), adopted, edited])
    assert told(follower.find("objects", "Lamp")) == [
        (1, "Lamp", "taken_in"), (3, "Lamp", "changed"), (4, "Lamp", "taken_in"), (5, "Lamp", "changed"),
    ]  # fmt: skip
    assert told(follower.find("objects", "Box")) == [(2, "Box", "created"), (4, "Box", "taken_in")]
    assert follower.find("objects", "Never") is None and follower.origin == 5


def test_commits_whose_receipts_say_not_all_are_named() -> None:
    assert Follower([BASELINE, MADE, commit(3, complete=False)]).incomplete == [3]
