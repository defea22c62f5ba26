"""Blame: which commits made and changed a datablock, for which request, and who asked for that. Told by the journal alone, but for single
properties, whose values are read from the scenes of those commits in a Blender of their own."""

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
    """One commit that touched a datablock: the one asked about, or its data. `value` is that of the property afterwards, where one was
    asked about."""

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
    """`entries` are newest first. `incomplete` are commits whose receipts do not list all that they touched: they may have touched this."""

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
    """One datablock of many: who made it, and who touched it last."""

    kind: str
    name: str
    first: Blamed
    last: Blamed

    def to_json(self) -> dict[str, Any]:
        ends = {"first": self.first.to_json(), "last": self.last.to_json()}
        return {"kind": self.kind, "name": self.name, **ends}


@dataclass(frozen=True, slots=True)
class BlameList:
    """By name. What is in the scene and not here came with the commit `origin`, and nothing has touched it since."""

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
    """The commits before `at` that touched a datablock, under whatever name it had; with a property, those that changed its value.

    A property is named as `object.inspect` shows it: `location`, `location.2`, `modifiers.0.type`. Raises Refusal where nothing has ever
    had that name, or the object has no such property."""
    with read_journal(workspace) as journal:
        to = find(journal, at)
        follower = Follower(journal.changes_to(to.number))
        followed = follower.find(kind, name)
        if followed is None:
            message = f"no commit before {to.number} has touched '{name}' ({kind})"
            cure = "Check the name with `blendwright snapshot`: what is there came with the scene that the workspace began with."
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, cure)
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
    """The same of everything of a kind that a commit has touched and that is there, in one pass: the first and the last touch of each."""
    with read_journal(workspace) as journal:
        follower = Follower(journal.changes_to(find(journal, at).number))
        blamed = _Blamed(journal)
        lines = tuple(
            BlameLine(kind, one.name, blamed.of(touches[0]), blamed.of(touches[-1]))
            for one in follower.living(kind)
            if (touches := one.all_touches)
        )
        return BlameList(lines, follower.origin, tuple(follower.incomplete))


class _Blamed:
    """Adds the commit and its author to each touch. Reads every commit once."""

    def __init__(self, journal: JournalView) -> None:
        self._commit: Callable[[int], Commit] = cache(journal.show)
        self._who = commit_authors(journal)

    def of(self, touch: Touch, value: Any = None) -> Blamed:
        commit = self._commit(touch.commit)
        return Blamed(commit, touch.kind, touch.name, touch.change, self._who(commit), value)


def _require_object(kind: str, followed: Followed) -> None:
    if kind != OBJECTS:
        cure = "Leave the property out, or name an object."
        raise Refusal.of(Fault.ARGS_INVALID, f"only objects have properties that can be blamed, not {kind}", cure)
    if not followed.alive:
        cure = "Name an earlier commit with --at."
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"the object '{followed.name}' was removed", cure)


class _Values:
    """The values of a property in the scenes of commits, in the one Blender that goes from one to the next."""

    def __init__(self, journal: JournalView, worker: RemoteScene, property: str) -> None:
        self._journal = journal
        self._worker = worker
        self._property = property

    def changed_by(self, touches: Sequence[Touch]) -> list[tuple[Touch, Any]]:
        """The touches that gave it another value, oldest first, with that value."""
        found: list[tuple[Touch, Any]] = []
        names = _object_names(touches)
        before: tuple[bool, Any] = (False, None)
        for touch in touches:
            after = self._value(touch.commit, names[touch.commit])
            if after != before and after[0]:
                found.append((touch, after[1]))
            before = after
        if not found:
            cure = "See what it has: blendwright call object.inspect"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, f"the object has never had a property '{self._property}'", cure)
        return found

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
    """What the object is called after each of the commits: its data may be touched under another name."""
    names: dict[int, str] = {}
    name = next((touch.name for touch in touches if touch.kind == OBJECTS), "")
    for touch in touches:
        if touch.kind == OBJECTS:
            name = touch.name
        names[touch.commit] = name
    return names


def _at(value: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Whether there is something at a path, and what."""
    for part in path:
        if isinstance(value, Mapping) and part in value:
            value = cast("Mapping[str, Any]", value)[part]
        elif (
            isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(cast("list[Any]", value))
        ):
            value = cast("list[Any]", value)[int(part)]
        else:
            return False, None
    return True, value
