"""The names in the scene of a workspace as its journal tells them, without Blender: where all of them came by commits whose receipts list
what they made. Of a scene that began with a file, or took one in, nobody knows what else is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from blendwright.journal import JournalView
from blendwright.journal.journal_copy import has_journal
from blendwright.records.touched import Follower
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import EnvironmentUnfit, JournalError
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, did_you_mean
from blendwright.workspace.names.port import Name, NameProblem

# What an empty scene has none of, so that commits tell all of it.
TOLD = tuple(Kind[name].blocks for name in ("OBJECT", "MATERIAL", "MESH", "LIGHT", "CAMERA", "COLLECTION"))
# The scene's own, which no commit makes.
ROOT = "Scene Collection"
# Reading so many receipts takes a moment; whoever validates is not kept waiting for more.
MOST_COMMITS = 20_000


class JournalNames:
    """A name source: reads the journal of a workspace. Where the journal cannot tell every name, no name has a problem.

    `made` are the names that the plan makes itself, by kind, which are offered as corrections."""

    def __init__(self, workspace: Path, made: Mapping[str, frozenset[str]]) -> None:
        self._workspace = workspace
        self._made = made

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        asked = [(kind, name) for kind, name in names if kind in TOLD and name != ROOT]
        if asked:
            known = names_in_scene(self._workspace)
        else:
            known = None
        if known is None:
            return {}
        missing = [(kind, name) for kind, name in asked if name not in known.get(kind, frozenset[str]())]
        return {(kind, name): self._problem(kind, name, known) for kind, name in missing[:MOST_FINDINGS]}

    def _problem(self, kind: str, name: str, known: Mapping[str, frozenset[str]]) -> NameProblem:
        message = f"there is no {Kind(kind).label} named '{name}', and nothing in the plan makes it before"
        near = sorted(known.get(kind, frozenset[str]()) | self._made.get(kind, frozenset[str]()))
        cure = did_you_mean(name, near, otherwise="Make it in the plan, or name what is there: blendwright snapshot")
        return NameProblem(Fault.TARGET_NOT_FOUND, message, cure)


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
        if head.generation > MOST_COMMITS or journal.recovery.quarantine() is not None:
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
