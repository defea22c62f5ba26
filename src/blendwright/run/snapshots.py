"""What snapshots leave out of the objects that changed: the settings of their modifiers. For comparisons that can read both scenes.

Compares nothing itself: it completes the snapshots that `differences` compares, and limits what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blendwright.run.differences import Difference, Key, Properties, SceneSnapshot
from blendwright.tools.object.inspect import Inspect, InspectArgs
from blendwright.values.errors import RebuildFailed
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene

OBJECTS = "objects"
# Objects whose modifiers are inspected.
MOST_INSPECTED = 200
# An answer stays within bounds whatever the scenes; what is left out is counted.
MOST_ENTRIES = 500
MOST_PROPERTIES = 100


@dataclass(frozen=True, slots=True)
class LimitedDifference:
    """A difference with at most so many entries and properties; `totals` counts all entries."""

    difference: Difference
    totals: Mapping[str, int]


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
    args = InspectArgs(name=name).model_dump(mode="json")
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
    return LimitedDifference(cut, totals)
