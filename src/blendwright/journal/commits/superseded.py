"""Which commits a later one took back: it removed what they made, made again what they removed, or restored the scene from before.

Only commits on HEAD's line count, and only those of other requests: what a plan takes back itself is part of the plan.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from blendwright.journal.lines.ancestry import Ancestry, head_row
from blendwright.journal.store import Store, from_json
from blendwright.records.commits import MatchedCommit

_LATER = """
SELECT number, line, generation, hash_after, receipt -> '$.changes' FROM commits
WHERE number > ? AND request_id <> ? AND kind = 'operation' ORDER BY number
"""
# What takes a change back.
_OPPOSITE = {"created": "removed", "changed": "removed", "removed": "created"}
_Change = tuple[str, str, str]


def superseded_by(
    store: Store, ancestry: Ancestry, request_id: str, commits: Sequence[MatchedCommit]
) -> dict[int, int]:
    """For each of these commits of one request that was taken back, the first that did it."""
    awaited: defaultdict[_Change, list[int]] = defaultdict(list)
    hashes: defaultdict[str, list[int]] = defaultdict(list)
    for commit in commits:
        for change in _undoing(commit.receipt.get("changes", ())):
            awaited[change].append(commit.number)
        if commit.receipt["scene_hash_before"] != commit.receipt["scene_hash_after"]:
            hashes[commit.receipt["scene_hash_before"]].append(commit.number)
    taken_back: dict[int, int] = {}
    with store.snapshot():
        head = head_row(store)
        if head is None:
            return taken_back
        ancestors, oldest = ancestry.of(head[0]), min(commit.number for commit in commits)
        for number, line, generation, hash_after, changes in store.rows(_LATER, (oldest, request_id)):
            if not ancestors.holds(line, generation):
                continue
            victims = [*hashes.get(hash_after, ())]
            for change in _net_changes(from_json("a receipt", changes or "[]")):
                victims += awaited.get(change, ())
            for victim in victims:
                if victim < number:
                    taken_back.setdefault(victim, number)
    return taken_back


def _undoing(changes: Sequence[Mapping[str, Any]]) -> Iterator[_Change]:
    """The changes that would take these back. Of a commit that made or removed something, what else it changed does not count."""
    listed = [(one["kind"], one["name"], one["change"]) for one in changes]
    decisive = [one for one in listed if one[2] != "changed"] or listed
    return ((kind, name, _OPPOSITE[change]) for kind, name, change in decisive if change in _OPPOSITE)


def _net_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[_Change]:
    """What was made or removed for good: something that takes the place of another of its name does neither."""
    made = {(one["kind"], one["name"]) for one in changes if one["change"] == "created"}
    gone = {(one["kind"], one["name"]) for one in changes if one["change"] == "removed"}
    yield from ((kind, name, "created") for kind, name in made - gone)
    yield from ((kind, name, "removed") for kind, name in gone - made)
