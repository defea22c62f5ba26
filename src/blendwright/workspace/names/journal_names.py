"""The names in the scene of a workspace as its journal tells them, without Blender: where all of them came by commits whose receipts list
what they made. Of a scene that began with a file, or took one in, nobody knows what else is in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from blendwright.journal import JournalView
from blendwright.journal.journal_copy import has_journal
from blendwright.records.touched import Follower
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import EnvironmentUnfit, JournalError
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding, did_you_mean
from blendwright.workspace.names.unresolved import Granted

# What an empty scene has none of, so that commits tell all of it.
TOLD = tuple(Kind[name].blocks for name in ("OBJECT", "MATERIAL", "MESH", "LIGHT", "CAMERA", "COLLECTION"))
# The scene's own, which no commit makes.
ROOT = "Scene Collection"
# Reading so many receipts takes a moment; whoever validates is not kept waiting for more.
MOST_COMMITS = 20_000


def missing_names(workspace: Path, granted: Granted) -> tuple[Finding, ...]:
    """A finding for each use of what neither the scene nor the plan has, with its place in the plan; none where the scene is not known."""
    wanted = [use for use in granted.uses if use.mention.kind in TOLD and use.mention.name != ROOT]
    known = names_in_scene(workspace) if wanted else None
    if known is None:
        return ()
    found: list[Finding] = []
    for operation, mention in wanted:
        kind, name = mention.kind, mention.name
        there = known.get(kind, frozenset[str]())
        if name in there or len(found) >= MOST_FINDINGS:
            continue
        label = Kind(kind).label
        message = f"there is no {label} named '{name}', and nothing in the plan makes it before"
        near = sorted(there | granted.made.get(kind, frozenset()))
        cure = did_you_mean(name, near, otherwise="Make it in the plan, or name what is there: blendwright snapshot")
        found.append(operation.in_arguments(Finding(Fault.TARGET_NOT_FOUND, message, mention.at, cure)))
    return tuple(dict.fromkeys(found))


def names_in_scene(workspace: Path) -> Mapping[str, frozenset[str]] | None:
    """By kind; None where the journal does not tell all of them, or cannot be read."""
    if not has_journal(workspace):
        return None
    try:
        journal = JournalView(workspace)
    except (EnvironmentUnfit, JournalError):
        return None
    try:
        head = journal.head
        if head is None:
            return {}
        if head.generation > MOST_COMMITS or journal.quarantined() is not None:
            return None
        changes = journal.changes_to(head.number)
    except JournalError:
        return None
    finally:
        journal.close()
    follower = Follower(changes)
    taken_in = [one for one in changes if one.kind != "operation"]
    # An empty scene can be made again; one that a file brought cannot.
    began_empty = len(taken_in) == 1 and taken_in[0].kind == "baseline" and taken_in[0].replayable
    if not began_empty or follower.incomplete:
        return None
    return {kind: frozenset(one.name for one in follower.living(kind)) for kind in TOLD}
