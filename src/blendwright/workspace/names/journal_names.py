"""The names in the scene of a workspace according to its journal, without Blender.

That works only if commits made all of them and the receipts list them. The journal does not list the content of a
file that started the scene or was adopted.
"""

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

# Kinds of datablocks that an empty scene lacks, so that the commits list all of them.
_LISTED_KINDS = tuple(Kind[name].blocks for name in ("OBJECT", "MATERIAL", "MESH", "LIGHT", "CAMERA", "COLLECTION"))
# The root collection, which no commit makes.
ROOT = "Scene Collection"
# The number of receipts that validation reads at most, because reading more takes too long.
MAX_COMMITS = 20_000


class JournalNames:
    """A name source that reads the journal of a workspace. If the journal does not list every name, no name has a
    problem.

    `made` has the names that the plan makes itself, by kind; they count as correction candidates.
    """

    def __init__(self, workspace: Path, made: Mapping[str, frozenset[str]]) -> None:
        self._workspace = workspace
        self._made = made

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        checked = [(kind, name) for kind, name in names if kind in _LISTED_KINDS and name != ROOT]
        if checked:
            scene_names = names_in_scene(self._workspace)
        else:
            scene_names = None
        if scene_names is None:
            return {}
        missing = [(kind, name) for kind, name in checked if name not in scene_names.get(kind, frozenset[str]())]
        return {(kind, name): self._problem(kind, name, scene_names) for kind, name in missing[:MOST_FINDINGS]}

    def _problem(self, kind: str, name: str, scene_names: Mapping[str, frozenset[str]]) -> NameProblem:
        message = f"there is no {Kind(kind).label} named '{name}', and no earlier operation of the plan makes it"
        candidates = sorted(scene_names.get(kind, frozenset[str]()) | self._made.get(kind, frozenset[str]()))
        fix = did_you_mean(
            name, candidates, otherwise="Make it in the plan, or use an existing name: blendwright snapshot"
        )
        return NameProblem(Fault.TARGET_NOT_FOUND, message, fix)


def names_in_scene(workspace: Path) -> Mapping[str, frozenset[str]] | None:
    """Return the names in the scene by kind, or None when the journal is unreadable or does not list all of them."""
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
        if head.generation > MAX_COMMITS or journal.recovery.quarantine() is not None:
            return None
        changes = journal.changes_to(head.number)
    except JournalError:
        return None
    finally:
        journal.close()
    follower = Follower(changes)
    taken_in = [change for change in changes if change.kind != "operation"]
    # A replayable baseline is an empty scene; a scene from a file is not replayable.
    began_empty = len(taken_in) == 1 and taken_in[0].kind == "baseline" and taken_in[0].replayable
    if not began_empty or follower.incomplete:
        return None
    return {kind: frozenset(block.name for block in follower.living(kind)) for kind in _LISTED_KINDS}
