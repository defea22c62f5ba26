"""A rename is a rename in differences, and what only looks alike is none."""

from __future__ import annotations

from typing import Any

from blendwright.engine.scene.differences import SceneSnapshot, compare
from blendwright.engine.scene.renames import renaming_calls
from blendwright.records.results import Difference, Renamed


def thing(data: str | None = "Box", **properties: Any) -> dict[str, Any]:
    shared = {"type": "EMPTY" if data is None else "MESH", "data": data, "data_fingerprint": data and f"of {data}"}
    return {**shared, "transform.location": [0, 0, 0], "parent": None, "fingerprint": "f", **properties}


def difference(old: dict[str, Any], new: dict[str, Any], **renamed: str) -> Difference:
    def snapshot(objects: dict[str, Any], hash: str) -> SceneSnapshot:
        return SceneSnapshot(hash, {("objects", name): entry for name, entry in objects.items()})

    return compare(snapshot(old, "old"), snapshot(new, "new"), renamed)


def test_the_same_object_under_another_name_is_renamed() -> None:
    found = difference({"Box": thing()}, {"Crate": thing(fingerprint="g")})
    assert found == Difference((), (), (), False, (Renamed("objects", "Box", "Crate"),))
    assert not found.is_empty


def test_what_else_changed_of_it_stands_under_its_new_name() -> None:
    moved = thing(fingerprint="g") | {"transform.location": [0, 0, 1]}
    found = difference({"Box": thing()}, {"Crate": moved})
    assert found.renamed == (Renamed("objects", "Box", "Crate"),) and not found.created and not found.removed
    (changed,) = found.changed
    assert changed.name == "Crate" and [one.property for one in changed.properties] == ["transform.location"]


def test_what_refers_to_it_has_not_changed() -> None:
    old = {"Box": thing(), "Lid": thing("Lid") | {"parent.object": "Box"}}
    new = {"Crate": thing(fingerprint="g"), "Lid": thing("Lid", fingerprint="h") | {"parent.object": "Crate"}}
    assert difference(old, new) == Difference((), (), (), False, (Renamed("objects", "Box", "Crate"),))


def test_an_object_beside_it_that_changed_is_still_told() -> None:
    old = {"Box": thing(), "Lid": thing("Lid")}
    new = {"Crate": thing(fingerprint="g"), "Lid": thing("Lid", fingerprint="h", data_fingerprint="other")}
    assert [entry.name for entry in difference(old, new).changed] == ["Lid"]


def test_an_object_that_only_looks_alike_is_not_the_same() -> None:
    """A cube that was deleted, and a ball that was made in its place: the fingerprints of their meshes cover their names."""
    found = difference({"Box": thing("Box")}, {"Ball": thing("Ball")})
    assert not found.renamed and len(found.created) == len(found.removed) == 1


def test_a_call_that_renamed_an_object_with_its_data_is_believed() -> None:
    found = difference({"Box": thing("Box")}, {"Crate": thing("Crate", fingerprint="g")}, Box="Crate")
    assert found.renamed == (Renamed("objects", "Box", "Crate"),) and not found.created
    gone = difference({"Box": thing("Box")}, {}, Box="Crate")
    assert not gone.renamed and len(gone.removed) == 1


def test_of_many_alike_each_is_renamed_once() -> None:
    old, new = {f"Leg {n}": thing("Leg") for n in range(4)}, {f"Foot {n}": thing("Leg") for n in range(3)}
    found = difference(old, new)
    assert len(found.renamed) == 3 and len(found.removed) == 1 and not found.created
    assert len({one.name for one in found.renamed}) == 3


def test_names_are_followed_through_several_calls_of_any_time() -> None:
    calls = [
        ("object.rename", {"name": "A", "new_name": "B"}),
        ("object.transform", {"object": "B"}),
        ("object.rename", {"object": "B", "new_name": "C"}),
    ]
    assert renaming_calls(calls) == {"A": "C"}
