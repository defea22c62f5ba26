"""The difference of two scenes, property by property, from full snapshots of both.

The comparison covers every value in a snapshot. Parts that a snapshot only fingerprints, such as a mesh or a node
tree, and datablocks that it does not list, such as an image, show as a changed fingerprint. `unseen` reports that
the scenes differ in something else. If both scenes can be read, the caller first completes the snapshots with the
settings of modifiers.
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
# Properties that follow from other properties of this or other datablocks: an additional user does not change a
# datablock. The targets of a modifier are also settings, which are compared themselves.
DERIVED = frozenset({"users", "data_users", "used_by", "children", "equal_to", "dimensions", "transform.matrix_world"})
TARGETS_AFFIXES = ("modifiers.", ".targets")
# Types whose data have a list of their own with more detail.
TYPES_WITH_LISTS = frozenset({"LIGHT", "CAMERA"})
ORDER = ".order"

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SceneSnapshot:
    """A scene as flat properties by kind and name."""

    hash: str
    entries: Mapping[Key, Properties]


def take_snapshot(worker: RemoteScene) -> SceneSnapshot:
    """Return a snapshot of the worker's scene."""
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
        if kind == "scenes" and name == entries[CURRENT_SCENE]["name"]:
            key = CURRENT_SCENE
        else:
            key = (kind, name)
        entries.setdefault(key, {})["fingerprint"] = digest
    return SceneSnapshot(scene_hash, entries)


def compare(before: SceneSnapshot, after: SceneSnapshot, renamed: Mapping[str, str] = NOTHING) -> Difference:
    """Return the difference of two scenes.

    `renamed` maps old to new names of objects whose renaming is known. Other renamed objects are recognized by
    their data.
    """
    renames = find_renames(before.entries, after.entries, renamed)
    old = under_new_names(before.entries, after.entries, renames)
    new = after.entries
    created = tuple(Entry(*key) for key in sorted(new.keys() - old.keys()))
    removed = tuple(Entry(*key) for key in sorted(old.keys() - new.keys()))
    changed: list[Changed] = []
    if renames:
        renamed_keys = {key for key, properties in old.items() if before.entries.get(key) != properties}
    else:
        renamed_keys = ()
    for key in sorted(old.keys() & new.keys()):
        properties = tuple(_changes(old[key], new[key]))
        # A fingerprint covers the name of a datablock and the names that it refers to.
        only_names = key in renamed_keys and [change.property for change in properties] == ["fingerprint"]
        if properties and not only_names:
            changed.append(Changed(*key, properties))
    if any(entry.name == "render" for entry in changed if entry.kind == "settings"):
        # The render settings belong to the scene, whose changed fingerprint then says nothing more.
        changed = [entry for entry in changed if (entry.kind, entry.name) != CURRENT_SCENE]

    renamed_entries = tuple(Renamed(kind, name, new_name) for (kind, name), new_name in sorted(renames.items()))
    is_visible = bool(created or removed or changed or renamed_entries)
    unseen = not is_visible and before.hash != after.hash
    return Difference(created, tuple(changed), removed, unseen, renamed_entries)


def snapshot_pages(worker: RemoteScene) -> Iterator[dict[str, Any]]:
    """Yield every page of a snapshot of the worker's scene. Raises RebuildFailed when the snapshot fails."""
    offset: int | None = 0
    while offset is not None:
        page = _page(worker, offset)
        offset = page["next_offset"]
        yield page


def collections_of(page: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the collections of a page, including nested collections."""
    return _collections(page["collections"]["items"])


def _page(worker: RemoteScene, offset: int) -> dict[str, Any]:
    args = SnapshotArgs(offset=offset, limit=PAGE).model_dump(mode="json")
    request = StepRequest(tool=TakeSnapshot.name, version=TakeSnapshot.version, args=args)
    answer = worker.step(request, deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"the snapshot of the scene failed: {answer['message']}")
    return answer["result"]


def _changes(old: Properties, new: Properties) -> Iterator[PropertyChange]:
    all_names = old.keys() | new.keys()
    names: list[str] = []
    for name in sorted(all_names):
        if old.get(name) == new.get(name):
            continue
        if name.endswith(ORDER) and _members_differ(old.get(name), new.get(name)):
            continue
        if name + ORDER in all_names:
            continue  # a list that was or became empty; its members show the change
        if name == "data_fingerprint" and new.get("type") in TYPES_WITH_LISTS:
            continue
        names.append(name)

    # The fingerprint of the whole says nothing more when a changed part is known.
    if len(names) > 1 and "fingerprint" in names:
        names.remove("fingerprint")
    for name in names:
        yield PropertyChange(name, old.get(name), new.get(name))


def _members_differ(old: list[str] | None, new: list[str] | None) -> bool:
    """Return True when more than the order differs. The members then show the change."""
    return sorted(old or ()) != sorted(new or ())


def _without_name(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "name"}


def _collections(trees: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the collections of the trees, without their number of objects, which follows from the objects."""
    for tree in trees:
        yield {key: value for key, value in tree.items() if key not in ("children", "objects")}
        yield from _collections(tree["children"])


def _flat(value: Any, path: str = "") -> Properties:
    """Return the values by dotted path. A vector or plain list is one value; named entries of a list get paths of
    their own.
    """
    if isinstance(value, dict):
        flat: Properties = {}
        for key, part in cast("dict[str, Any]", value).items():
            if path:
                part_path = f"{path}.{key}"
            else:
                part_path = key
            if not _is_derived(part_path):
                flat |= _flat(part, part_path)
        return flat

    if isinstance(value, list) and value and isinstance(value[0], dict):
        # Sockets may share a name; their identifiers differ.
        items = {str(item.get("identifier", item["name"])): item for item in cast("list[dict[str, Any]]", value)}
        flat = {path + ORDER: list(items)}
        for name, item in items.items():
            flat |= _flat(_without_name(item), f"{path}.{name}")
        return flat
    return {path: value}


def _is_derived(path: str) -> bool:
    prefix, suffix = TARGETS_AFFIXES
    return path in DERIVED or (path.startswith(prefix) and path.endswith(suffix))


OBJECTS = "objects"
# Objects of one comparison whose modifiers are inspected.
MAX_INSPECTED_OBJECTS = 200
# Entries of each list in an answer, and properties of each entry. The answer counts what it omits.
MAX_ENTRIES = 500
MAX_PROPERTIES = 100


def objects_to_inspect(before: SceneSnapshot, after: SceneSnapshot) -> list[str]:
    """Return the names of objects in both scenes that differ and have modifiers, whose settings may differ."""
    return list(_differing(before.entries, after.entries))[:MAX_INSPECTED_OBJECTS]


def _differing(old: Mapping[Key, Properties], new: Mapping[Key, Properties]) -> Iterator[str]:
    for key in sorted(old.keys() & new.keys()):
        differs = key[0] == OBJECTS and old[key]["fingerprint"] != new[key]["fingerprint"]
        if differs and any(name.startswith("modifiers.") for name in (*old[key], *new[key])):
            yield key[1]


def with_modifier_settings(snapshot: SceneSnapshot, names: Sequence[str], worker: RemoteScene) -> SceneSnapshot:
    """Return the snapshot with the modifier settings of these objects. The worker must hold the scene of the
    snapshot.
    """
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
        raise RebuildFailed(f"inspecting the object '{name}' failed: {answer['message']}")
    return answer["result"]


def limit_difference(difference: Difference) -> LimitedDifference:
    """Return the difference with limited lists, and the full number of entries of each list."""
    totals = {
        "created": len(difference.created),
        "changed": len(difference.changed),
        "removed": len(difference.removed),
        "renamed": len(difference.renamed),
    }
    changed = tuple(
        replace(entry, properties=entry.properties[:MAX_PROPERTIES]) for entry in difference.changed[:MAX_ENTRIES]
    )
    cut = replace(
        difference,
        created=difference.created[:MAX_ENTRIES],
        changed=changed,
        removed=difference.removed[:MAX_ENTRIES],
        renamed=difference.renamed[:MAX_ENTRIES],
    )
    return LimitedDifference(cut, totals)
