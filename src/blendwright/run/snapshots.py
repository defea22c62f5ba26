"""What snapshots leave out of the objects that changed: the settings of their modifiers. For comparisons that can look at both scenes.

Compares nothing itself: it completes the pictures that `differences` compares, and bounds what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blendwright.run.differences import Difference, Key, Picture, Properties
from blendwright.tools.object.inspect import Inspect, InspectArgs
from blendwright.values.errors import RebuildFailed
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.step import StepRequest

OBJECTS = "objects"
# Objects whose modifiers are looked into.
MOST_INSPECTED = 200
# An answer stays within bounds whatever the scenes; what is left out is counted.
MOST_ENTRIES = 500
MOST_PROPERTIES = 100


@dataclass(frozen=True, slots=True)
class Bounded:
    """A difference with at most so many entries and properties; `totals` counts all entries."""

    difference: Difference
    totals: Mapping[str, int]


def to_look_into(before: Picture, after: Picture) -> list[str]:
    """Objects of both scenes that differ and have modifiers, whose settings may be what differs."""
    return list(_to_look_into(before.entries, after.entries))[:MOST_INSPECTED]


def _to_look_into(old: Mapping[Key, Properties], new: Mapping[Key, Properties]) -> Iterator[str]:
    for key in sorted(old.keys() & new.keys()):
        differs = key[0] == OBJECTS and old[key]["fingerprint"] != new[key]["fingerprint"]
        if differs and any(name.startswith("modifiers.") for name in (*old[key], *new[key])):
            yield key[1]


def with_modifier_settings(picture: Picture, names: Sequence[str], worker: RemoteScene) -> Picture:
    """The worker must hold the scene that the picture was taken of."""
    entries = dict(picture.entries)
    for name in names:
        entries[OBJECTS, name] = entries[OBJECTS, name] | dict(_modifier_settings(_inspected(worker, name)))
    return replace(picture, entries=entries)


def _modifier_settings(report: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for modifier in report["modifiers"]:
        for part in ("settings", "inputs"):
            for setting, value in modifier[part].items():
                yield f"modifiers.{modifier['name']}.{part}.{setting}", value


def _inspected(worker: RemoteScene, name: str) -> Mapping[str, Any]:
    args = InspectArgs(name=name).model_dump(mode="json")
    request = StepRequest(tool=Inspect.name, version=Inspect.version, args=args)
    answer = worker.step(request, deadline=HANG_SECONDS)
    if not answer["ok"] or answer["result"] is None:
        raise RebuildFailed(f"the object '{name}' could not be looked at: {answer['message']}")
    return answer["result"]


def bounded(difference: Difference) -> Bounded:
    totals = {
        "created": len(difference.created),
        "changed": len(difference.changed),
        "removed": len(difference.removed),
    }
    changed = tuple(
        replace(entry, properties=entry.properties[:MOST_PROPERTIES]) for entry in difference.changed[:MOST_ENTRIES]
    )
    cut = replace(
        difference,
        created=difference.created[:MOST_ENTRIES],
        changed=changed,
        removed=difference.removed[:MOST_ENTRIES],
    )
    return Bounded(cut, totals)
