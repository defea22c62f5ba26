"""Recognition of renamed objects, from snapshots of two scenes.

A removed and a new object are the same object in three cases: they have the same data and differ only in name;
they are the only users of that data; or a known call renamed the object. Similar properties alone prove nothing,
and a fingerprint covers the name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, cast

from blendwright.tools.object.rename import Rename

Key = tuple[str, str]
Properties = dict[str, Any]
Entries = Mapping[Key, Properties]

OBJECTS = "objects"
# Kinds of object data that have a list of their own.
DATA = ("lights", "cameras")
# These fingerprints cover the name.
FINGERPRINTS = frozenset({"fingerprint", "data_fingerprint"})


def renaming_calls(calls: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """Return the final names of objects after these calls (tool and canonical arguments), by their names before
    the first call.
    """
    names: dict[str, str] = {}
    for tool, args in calls:
        if tool == Rename.name:
            old, new = str(args.get("object", args.get("name"))), str(args["new_name"])
            first_name = old
            for original, current in names.items():
                if current == old:
                    first_name = original
                    break
            names[first_name] = new
    return names


def find_renames(old: Entries, new: Entries, known: Mapping[str, str]) -> dict[Key, str]:
    """Return the new name of every renamed object, and of its light or camera, by kind and old name."""
    removed = [key for key in sorted(old.keys() - new.keys()) if key[0] == OBJECTS]
    added = {key for key in new.keys() - old.keys() if key[0] == OBJECTS}
    renames: dict[Key, str] = {}
    if not added:
        return renames

    for key in removed:
        before = old[key]
        if key[1] in known:
            candidate = (OBJECTS, known[key[1]])
        else:
            candidate = _same_object(before, added, old, new)
        if candidate is None or candidate not in added or new[candidate]["type"] != before["type"]:
            continue

        added.discard(candidate)
        renames[key] = candidate[1]
        old_data = before["data"]
        new_data = new[candidate]["data"]
        for kind in DATA:
            old_data_removed = (kind, old_data) in old and (kind, old_data) not in new
            if old_data != new_data and old_data_removed and (kind, new_data) in new:
                renames[kind, old_data] = new_data
    return renames


def under_new_names(old: Entries, new: Entries, renames: Mapping[Key, str]) -> Entries:
    """Return the old entries under their new names.

    A reference to a renamed datablock also gets the new name, if the new entry has that reference.
    """
    if not renames:
        return old
    new_names = {old_name: new_name for (_, old_name), new_name in renames.items()}
    entries: dict[Key, Properties] = {}
    for key, properties in old.items():
        new_key = (key[0], renames.get(key, key[1]))
        new_properties = new.get(new_key, {})
        entry: Properties = {}
        for name, value in properties.items():
            new_value = _with_new_names(value, new_names)
            if new_value == new_properties.get(name):
                entry[name] = new_value
            else:
                entry[name] = value
        entries[new_key] = entry
    return entries


def _same_object(before: Properties, added: set[Key], old: Entries, new: Entries) -> Key | None:
    if before["data"] is None:
        alike = [key for key in sorted(added) if _apart_from_name(new[key]) == _apart_from_name(before)]
        if alike:
            return alike[0]
        return None

    old_users = _users(old)[before["data"]]
    new_users = _users(new)[before["data"]]
    data_fingerprint = before["data_fingerprint"]
    same_data = [key for key in new_users if key in added and new[key]["data_fingerprint"] == data_fingerprint]
    alike = [key for key in same_data if _apart_from_name(new[key]) == _apart_from_name(before)]
    if alike:
        return alike[0]
    if len(old_users) == len(new_users) == 1:
        return new_users[0]
    return None


def _users(entries: Entries) -> dict[str, list[Key]]:
    """Return the objects by the name of their data."""
    users: dict[str, list[Key]] = defaultdict(list)
    for key, properties in sorted(entries.items()):
        if key[0] == OBJECTS:
            users[properties["data"]].append(key)
    return users


def _apart_from_name(properties: Properties) -> Properties:
    return {name: value for name, value in properties.items() if name not in FINGERPRINTS}


def _with_new_names(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_with_new_names(part, names) for part in cast("list[Any]", value)]
    return value
