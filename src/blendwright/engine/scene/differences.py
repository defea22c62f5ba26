"""The difference of two scenes, property by property, from full snapshots of both.

What a snapshot shows is compared value by value; what it only fingerprints (the content of a mesh, a node tree) shows as a changed
fingerprint, and so does every datablock that it does not list (an image, an action, a text). What is still not known is not passed over:
`unseen` says that the scenes differ in something else.
Where both scenes can be read, the snapshots are completed by the settings of modifiers first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from blendwright.engine.scene.renames import Key, Properties, find_renames, under_new_names
from blendwright.records.results import Changed, Difference, Entry, LimitedDifference, PropertyChange, Renamed
from blendwright.tools.object.inspect import Inspect, InspectArgs
from blendwright.tools.scene.snapshot import SnapshotArgs, TakeSnapshot
from blendwright.values.errors import RebuildFailed
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

LISTS = ("objects", "materials", "cameras", "lights", "node_groups")
SETTINGS = ("scene", "world", "render")
CURRENT_SCENE = ("settings", "scene")
PAGE = 1000
# Follows from other properties, its own and those of others: whoever is used by one more has not changed. A modifier's targets are
# settings of it, which are compared themselves.
DERIVED = frozenset({"users", "data_users", "used_by", "children", "equal_to", "dimensions", "transform.matrix_world"})
TARGETS = ("modifiers.", ".targets")
# Their data have a list of their own, which says more.
LISTED_ELSEWHERE = frozenset({"LIGHT", "CAMERA"})
ORDER = ".order"

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """A scene as flat properties by kind and name."""

    hash: str
    entries: Mapping[Key, Properties]


def take_snapshot(worker: RemoteScene) -> SceneSnapshot:
    """The worker's scene."""
    entries: dict[Key, Properties] = {}
    scene_hash = ""
    for page in snapshot_pages(worker):
        scene_hash = page["fingerprint"]
        for kind in LISTS:
            for item in page[kind]["items"]:
                entries[kind, item["name"]] = _flat(_without_name(item))
        for item in collections_of(page):
            entries["collections", item["name"]] = _flat(_without_name(item))
        for kind in SETTINGS:
            if page[kind] is not None:
                entries["settings", kind] = _flat(page[kind])
    for kind, name, digest in worker.unlisted():
        current = kind == "scenes" and name == entries[CURRENT_SCENE]["name"]
        entries.setdefault(CURRENT_SCENE if current else (kind, name), {})["fingerprint"] = digest
    return SceneSnapshot(scene_hash, entries)


def compare(before: SceneSnapshot, after: SceneSnapshot, renamed: Mapping[str, str] = NOTHING) -> Difference:
    """`renamed` are objects that are known to have been renamed, by their old names; more are found by what they are."""
    renames = find_renames(before.entries, after.entries, renamed)
    old, new = under_new_names(before.entries, after.entries, renames), after.entries
    created = tuple(Entry(*key) for key in sorted(new.keys() - old.keys()))
    removed = tuple(Entry(*key) for key in sorted(old.keys() - new.keys()))
    changed: list[Changed] = []
    if renames:
        named = {key for key, properties in old.items() if before.entries.get(key) != properties}
    else:
        named = ()
    for key in sorted(old.keys() & new.keys()):
        properties = tuple(_changes(old[key], new[key]))
        # A fingerprint covers names, its own and those that it refers to.
        only_names = key in named and [change.property for change in properties] == ["fingerprint"]
        if properties and not only_names:
            changed.append(Changed(*key, properties))
    if any(entry.name == "render" for entry in changed if entry.kind == "settings"):
        # They are properties of the scene, whose fingerprint says nothing more then.
        changed = [entry for entry in changed if (entry.kind, entry.name) != CURRENT_SCENE]
    names = tuple(Renamed(kind, name, now) for (kind, name), now in sorted(renames.items()))
    seen = bool(created or removed or changed or names)
    return Difference(created, tuple(changed), removed, not seen and before.hash != after.hash, names)


def snapshot_pages(worker: RemoteScene) -> Iterator[dict[str, Any]]:
    """Every page of a snapshot of the worker's scene. Raises RebuildFailed where none can be taken."""
    offset: int | None = 0
    while offset is not None:
        page = _page(worker, offset)
        offset = page["next_offset"]
        yield page


def collections_of(page: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The collections of a page, with those inside of others."""
    return _collections(page["collections"]["items"])


def _page(worker: RemoteScene, offset: int) -> dict[str, Any]:
    args = SnapshotArgs(offset=offset, limit=PAGE).model_dump(mode="json")
    request = StepRequest(tool=TakeSnapshot.name, version=TakeSnapshot.version, args=args)
    answer = worker.step(request, deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"no snapshot of the scene could be taken: {answer['message']}")
    return answer["result"]


def _changes(old: Properties, new: Properties) -> Iterator[PropertyChange]:
    names = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    names = [name for name in names if not (name.endswith(ORDER) and _other_members(old.get(name), new.get(name)))]
    # A list that was or became empty: its members tell it.
    names = [name for name in names if name + ORDER not in old.keys() | new.keys()]
    if new.get("type") in LISTED_ELSEWHERE:
        names = [name for name in names if name != "data_fingerprint"]
    # The fingerprint of the whole says nothing where the part is known.
    if len(names) > 1:
        names = [name for name in names if name != "fingerprint"]
    return (PropertyChange(name, old.get(name), new.get(name)) for name in names)


def _other_members(old: list[str] | None, new: list[str] | None) -> bool:
    """Whether more than the order differs, which then shows by the members themselves."""
    return sorted(old or ()) != sorted(new or ())


def _without_name(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "name"}


def _collections(trees: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The nodes of the trees. How many objects one holds follows from the objects, which name their collections."""
    for tree in trees:
        yield {key: value for key, value in tree.items() if key not in ("children", "objects")}
        yield from _collections(tree["children"])


def _flat(value: Any, path: str = "") -> Properties:
    """Values by dotted path. Vectors and plain lists are one value; entries of a list that have names stand under them."""
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        inner = {f"{path}.{key}" if path else key: part for key, part in parts.items()}
        return {
            name: leaf
            for place, part in inner.items()
            if not _is_derived(place)
            for name, leaf in _flat(part, place).items()
        }
    if isinstance(value, list) and value and isinstance(value[0], dict):
        # Sockets may share a name; their identifiers differ.
        items = {str(item.get("identifier", item["name"])): item for item in cast("list[dict[str, Any]]", value)}
        flat: Properties = {path + ORDER: list(items)}
        for name, item in items.items():
            flat |= _flat(_without_name(item), f"{path}.{name}")
        return flat
    return {path: value}


def _is_derived(place: str) -> bool:
    first, last = TARGETS
    return place in DERIVED or (place.startswith(first) and place.endswith(last))


OBJECTS = "objects"
# Objects whose modifiers are inspected.
MOST_INSPECTED = 200
# An answer stays within bounds whatever the scenes; what is left out is counted.
MOST_ENTRIES = 500
MOST_PROPERTIES = 100


def objects_to_inspect(before: SceneSnapshot, after: SceneSnapshot) -> list[str]:
    """Objects of both scenes that differ and have modifiers, whose settings may be what differs."""
    return list(_differing(before.entries, after.entries))[:MOST_INSPECTED]


def _differing(old: Mapping[Key, Properties], new: Mapping[Key, Properties]) -> Iterator[str]:
    for key in sorted(old.keys() & new.keys()):
        differs = key[0] == OBJECTS and old[key]["fingerprint"] != new[key]["fingerprint"]
        if differs and any(name.startswith("modifiers.") for name in (*old[key], *new[key])):
            yield key[1]


def with_modifier_settings(snapshot: SceneSnapshot, names: Sequence[str], worker: RemoteScene) -> SceneSnapshot:
    """The worker must hold the scene that the snapshot was taken of."""
    entries = dict(snapshot.entries)
    for name in names:
        entries[OBJECTS, name] = entries[OBJECTS, name] | dict(_modifier_settings(_inspect(worker, name)))
    return replace(snapshot, entries=entries)


def _modifier_settings(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for modifier in report["modifiers"]:
        for part in ("settings", "inputs"):
            for setting, value in modifier[part].items():
                yield f"modifiers.{modifier['name']}.{part}.{setting}", value


def _inspect(worker: RemoteScene, name: str) -> Mapping[str, Any]:
    args = InspectArgs(object=name).model_dump(mode="json")
    request = StepRequest(tool=Inspect.name, version=Inspect.version, args=args)
    answer = worker.step(request, deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"the object '{name}' could not be inspected: {answer['message']}")
    return answer["result"]


def limit_difference(difference: Difference) -> LimitedDifference:
    totals = {
        "created": len(difference.created),
        "changed": len(difference.changed),
        "removed": len(difference.removed),
        "renamed": len(difference.renamed),
    }
    changed = tuple(
        replace(entry, properties=entry.properties[:MOST_PROPERTIES]) for entry in difference.changed[:MOST_ENTRIES]
    )
    cut = replace(
        difference,
        created=difference.created[:MOST_ENTRIES],
        changed=changed,
        removed=difference.removed[:MOST_ENTRIES],
        renamed=difference.renamed[:MOST_ENTRIES],
    )
    return LimitedDifference(cut, totals)
