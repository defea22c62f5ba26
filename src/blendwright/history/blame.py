"""Blame: the commits that made and changed a datablock, with their requests and authors.

The journal alone answers this. Only values of single properties need the scenes of these commits, rebuilt in a
separate Blender.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.moves.commit_names import find
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.records.touched import OBJECTS, Followed, Follower, Touch, TouchKind
from blendwright.tools.catalog import tools
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.authors import Who, commit_authors
from blendwright.wire.methods import StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.workspace.reading import inspection_workers, read_journal

INSPECT = "object.inspect"


@dataclass(frozen=True, slots=True)
class Blamed:
    """A commit that touched the datablock in question or its data.

    `value` is the property's value afterwards, if a property was requested.
    """

    commit: Commit
    kind: str
    name: str
    change: TouchKind
    who: Who
    value: Any = None

    def to_json(self) -> dict[str, Any]:
        commit = self.commit
        return {
            "commit": commit.number, "change": self.change, "kind": self.kind, "name": self.name,
            "request_id": commit.request_id, "operation_id": commit.operation_id, "tool": commit.tool,
            "timestamp": commit.timestamp, "who": asdict(self.who), "value": self.value,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Blame:
    """The commits that touched a datablock, newest first.

    `incomplete` lists commits whose receipts omit some of the datablocks they touched.
    """

    kind: str
    name: str
    property: str | None
    entries: tuple[Blamed, ...]
    incomplete: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True, "kind": self.kind, "name": self.name, "property": self.property,
            "entries": [entry.to_json() for entry in self.entries], "incomplete": list(self.incomplete),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A datablock with the first and the last commit that touched it."""

    kind: str
    name: str
    first: Blamed
    last: Blamed

    def to_json(self) -> dict[str, Any]:
        ends = {"first": self.first.to_json(), "last": self.last.to_json()}
        return {"kind": self.kind, "name": self.name, **ends}


@dataclass(frozen=True, slots=True)
class BlameList:
    """The blamed datablocks by name.

    All other datablocks in the scene came with the commit `origin` and have not been touched since.
    """

    lines: tuple[BlameLine, ...]
    origin: int | None
    incomplete: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        lines = [line.to_json() for line in self.lines]
        return {"ok": True, "lines": lines, "origin": self.origin, "incomplete": list(self.incomplete)}


def blame(
    workspace: str | Path,
    name: str,
    *,
    kind: str = OBJECTS,
    property: str | None = None,
    at: int | str = "HEAD",
    blender: str | Path | WorkerSource | None = None,
) -> Blame:
    """Return the commits up to `at` that touched a datablock, under every name it had. With a property, return the
    commits that changed its value.

    `property` has the notation of `object.inspect`: `location`, `location.2`, `modifiers.0.type`. Raise Refusal when
    no commit touched that name, or the object never had such a property.
    """
    with read_journal(workspace) as journal:
        to = find(journal, at)
        follower = Follower(journal.changes_to(to.number))
        followed = follower.find(kind, name)
        if followed is None:
            message = f"no commit before {to.number} has touched '{name}' ({kind})"
            fix = "Check the name with `blendwright snapshot`. An untouched datablock came with the first scene of the workspace."
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, fix)
        touches = followed.all_touches
        blamed = _Blamed(journal)
        if property is None:
            entries = [blamed.of(touch) for touch in touches]
        else:
            _require_object(kind, followed)
            with inspection_workers(workspace, blender=blender) as inspection:
                values = _Values(journal, inspection.worker(), property)
                entries = [blamed.of(touch, value) for touch, value in values.changed_by(touches)]
        return Blame(kind, name, property, tuple(reversed(entries)), tuple(follower.incomplete))


def blame_all(workspace: str | Path, *, kind: str = OBJECTS, at: int | str = "HEAD") -> BlameList:
    """Return the first and the last touch of every existing datablock of a kind that a commit has touched, in one
    pass.
    """
    with read_journal(workspace) as journal:
        follower = Follower(journal.changes_to(find(journal, at).number))
        blamed = _Blamed(journal)
        lines: list[BlameLine] = []
        for datablock in follower.living(kind):
            touches = datablock.all_touches
            if touches:
                lines.append(BlameLine(kind, datablock.name, blamed.of(touches[0]), blamed.of(touches[-1])))
        return BlameList(tuple(lines), follower.origin, tuple(follower.incomplete))


class _Blamed:
    """A conversion from touches to blame entries with commit and author. It reads every commit once."""

    def __init__(self, journal: JournalView) -> None:
        self._commit: Callable[[int], Commit] = cache(journal.show)
        self._who = commit_authors(journal)

    def of(self, touch: Touch, value: Any = None) -> Blamed:
        commit = self._commit(touch.commit)
        return Blamed(commit, touch.kind, touch.name, touch.change, self._who(commit), value)


def _require_object(kind: str, followed: Followed) -> None:
    if kind != OBJECTS:
        fix = "Leave the property out, or name an object."
        raise Refusal.of(Fault.ARGS_INVALID, f"only objects have properties that can be blamed, not {kind}", fix)
    if not followed.alive:
        fix = "Name an earlier commit with --at."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"the object '{followed.name}' was removed", fix)


class _Values:
    """A reader of one property in the scenes of commits. One Blender rebuilds the scenes one after the other."""

    def __init__(self, journal: JournalView, worker: RemoteScene, property: str) -> None:
        self._journal = journal
        self._worker = worker
        self._property = property

    def changed_by(self, touches: Sequence[Touch]) -> list[tuple[Touch, Any]]:
        """Return the touches that gave the property another value, oldest first, with that value.

        Raise Refusal when there are none.
        """
        changes: list[tuple[Touch, Any]] = []
        names = _object_names(touches)
        before: tuple[bool, Any] = (False, None)
        for touch in touches:
            after = self._value(touch.commit, names[touch.commit])
            if after != before and after[0]:
                changes.append((touch, after[1]))
            before = after
        if not changes:
            fix = "List its properties: blendwright call object.inspect"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, f"the object has never had a property '{self._property}'", fix)
        return changes

    def _value(self, commit: int, name: str) -> tuple[bool, Any]:
        rebuild_commit(self._worker, self._journal, commit)
        tool = tools()[INSPECT]
        args = tool.args_model.model_validate({"object": name}).model_dump(mode="json")
        request = StepRequest(tool=INSPECT, version=tool.version, args=args, verify=False)
        answer = self._worker.step(request, deadline=HANG_SECONDS, cancel=None)
        if answer["ok"]:
            return _at(answer["result"], self._property.split("."))
        return (False, None)


def _object_names(touches: Sequence[Touch]) -> dict[int, str]:
    """Return the name of the object after each commit.

    A touch of the object's data has the name of the data instead.
    """
    names: dict[int, str] = {}
    name = next((touch.name for touch in touches if touch.kind == OBJECTS), "")
    for touch in touches:
        if touch.kind == OBJECTS:
            name = touch.name
        names[touch.commit] = name
    return names


def _at(value: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Return whether a value exists at a path, and the value."""
    for part in path:
        if isinstance(value, Mapping) and part in value:
            value = cast("Mapping[str, Any]", value)[part]
            continue
        if not isinstance(value, list) or not part.isascii() or not part.isdigit():
            return False, None
        items = cast("list[Any]", value)
        if int(part) >= len(items):
            return False, None
        value = items[int(part)]
    return True, value
