"""A search for commits whose effect a later commit cancelled. The later commit removed created data, created removed
data, or restored the previous scene.

Only commits on HEAD's line count, and only commits of other requests: cancelling an own step is part of a plan.
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
# The kind of change that cancels a kind of change.
_OPPOSITE = {"created": "removed", "changed": "removed", "removed": "created"}
_Change = tuple[str, str, str]


def superseded_by(
    store: Store, ancestry: Ancestry, request_id: str, commits: Sequence[MatchedCommit]
) -> dict[int, int]:
    """Return, for each of these commits of one request that a later commit cancelled, the first commit that did it."""
    awaited: defaultdict[_Change, list[int]] = defaultdict(list)
    hashes: defaultdict[str, list[int]] = defaultdict(list)
    for commit in commits:
        for change in _cancelling_changes(commit.receipt.get("changes", ())):
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


def _cancelling_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[_Change]:
    """Yield the changes that would cancel these.

    If the commit created or removed anything, its other changes do not count.
    """
    described = [(change["kind"], change["name"], change["change"]) for change in changes]
    decisive = [change for change in described if change[2] != "changed"] or described
    return ((kind, name, _OPPOSITE[change]) for kind, name, change in decisive if change in _OPPOSITE)


def _net_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[_Change]:
    """Yield the net creations and removals. A removal and a creation with the same kind and name count as neither."""
    created = {(change["kind"], change["name"]) for change in changes if change["change"] == "created"}
    removed = {(change["kind"], change["name"]) for change in changes if change["change"] == "removed"}
    yield from ((kind, name, "created") for kind, name in created - removed)
    yield from ((kind, name, "removed") for kind, name in removed - created)
