"""Which objects of two scenes are the same under another name, from snapshots of both.

An object that is gone and one that is new are one that was renamed where they have the same data and nothing but the name differs,
where they are the only ones that had and have that data, or where it is known that a call renamed it. Two that merely look
alike are not: a fingerprint covers the name, so that it cannot tell.
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
# What an object may be made of and that has a list of its own.
DATA = ("lights", "cameras")
# They cover the name.
FINGERPRINTS = frozenset({"fingerprint", "data_fingerprint"})


def renaming_calls(calls: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """The new names of objects after these calls (tool and canonical arguments), by the names that they had before the first."""
    names: dict[str, str] = {}
    for tool, args in calls:
        if tool == Rename.name:
            old, new = str(args.get("object", args.get("name"))), str(args["new_name"])
            first = next((one for one, now in names.items() if now == old), old)
            names[first] = new
    return names


def find_renames(old: Entries, new: Entries, known: Mapping[str, str]) -> dict[Key, str]:
    """The new name of every object that was renamed, and of a light or camera with it, by kind and old name."""
    gone = [key for key in sorted(old.keys() - new.keys()) if key[0] == OBJECTS]
    came = {key for key in new.keys() - old.keys() if key[0] == OBJECTS}
    renames: dict[Key, str] = {}
    for key in gone if came else ():
        before = old[key]
        if key[1] in known:
            other = (OBJECTS, known[key[1]])
        else:
            other = _same_object(before, came, old, new)
        if other is not None and other in came and new[other]["type"] == before["type"]:
            came.discard(other)
            renames[key] = other[1]
            data, now = before["data"], new[other]["data"]
            for kind in DATA:
                if data != now and (kind, data) in old and (kind, data) not in new and (kind, now) in new:
                    renames[kind, data] = now
    return renames


def under_new_names(old: Entries, new: Entries, renames: Mapping[Key, str]) -> Entries:
    """The old entries under their new names; where one refers to another by its old name, and now by its new one, by that too."""
    if not renames:
        return old
    names = {name: now for (_, name), now in renames.items()}
    entries: dict[Key, Properties] = {}
    for key, properties in old.items():
        then = new.get(current := (key[0], renames.get(key, key[1])), {})
        entries[current] = {
            name: now if (now := _reworded(value, names)) == then.get(name) else value
            for name, value in properties.items()
        }
    return entries


def _same_object(before: Properties, came: set[Key], old: Entries, new: Entries) -> Key | None:
    if before["data"] is None:
        alike = [key for key in sorted(came) if _apart_from_name(new[key]) == _apart_from_name(before)]
        if alike:
            return alike[0]
        return None
    users = _users(old)[before["data"]], _users(new)[before["data"]]
    same_data = [key for key in users[1] if key in came and new[key]["data_fingerprint"] == before["data_fingerprint"]]
    alike = [key for key in same_data if _apart_from_name(new[key]) == _apart_from_name(before)]
    if alike:
        return alike[0]
    if len(users[0]) == len(users[1]) == 1:
        return users[1][0]
    return None


def _users(entries: Entries) -> dict[str, list[Key]]:
    """The objects by the name of their data."""
    users: dict[str, list[Key]] = defaultdict(list)
    for key, properties in sorted(entries.items()):
        if key[0] == OBJECTS:
            users[properties["data"]].append(key)
    return users


def _apart_from_name(properties: Properties) -> Properties:
    return {name: value for name, value in properties.items() if name not in FINGERPRINTS}


def _reworded(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_reworded(part, names) for part in cast("list[Any]", value)]
    return value
