"""A replay of the journal in the old and the new Blender, to find the operations whose results or scenes differ.

The old Blender must reproduce the hashes of the journal. The new one has other hashes, so the replay compares the
results of operations and the changed datablocks. Both Blenders open the checkpoint of a step that cannot be replayed,
such as an import or code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from blendwright.engine.scene.rebuild import open_checkpoint
from blendwright.journal import JournalView
from blendwright.records.commits import Commit
from blendwright.values.errors import RebuildFailed
from blendwright.versions.compare_content import DesignNote, PropertyPart, same_value, total
from blendwright.versions.two_blenders import TwoBlenders, changed_blocks
from blendwright.wire.methods import StepAnswer

PartKind = Literal["failed", "result", "scene", "opened", "begun"]
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ResultPart:
    """A value in an operation's result that differs in the new Blender."""

    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class OperationPart:
    """An operation that failed in the new Blender, or that has another result or another scene there.

    `properties` are the differences since this operation. The list omits differences that existed before.
    """

    commit: int
    operation_id: str
    tool: str
    kind: PartKind
    message: str
    results: tuple[ResultPart, ...]
    properties: tuple[PropertyPart, ...]


@dataclass(frozen=True, slots=True)
class OpenedCommit:
    """A commit whose scene both Blenders opened from its checkpoint, because its step cannot be replayed."""

    commit: int
    operation_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class VersionReplay:
    """The result of a replay in two Blenders. `final` lists the differences of the last scenes."""

    commits: int
    redone: int
    opened: tuple[OpenedCommit, ...]
    parts: tuple[OperationPart, ...]
    final: tuple[PropertyPart, ...]
    notes: Mapping[DesignNote, int]

    @property
    def failed(self) -> bool:
        """An operation failed in the new Blender, which then continued with the scene of the old one."""
        return any(part.kind == "failed" for part in self.parts)


def replay_in_both(
    blenders: TwoBlenders,
    journal: JournalView,
    commits: Sequence[Commit],
    observe: Callable[[OperationPart], None] = lambda part: None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> VersionReplay:
    """Replay commits of one line, oldest first, and return the differences.

    The first commit must have a scene of its own: a baseline or a checkpoint. The function calls `observe` while both
    Blenders hold the differing scenes. Raise RebuildFailed when the old Blender does not reproduce the journal.
    """
    return _Replay(blenders, journal, commits, observe, progress).run()


@dataclass
class _Replay:
    blenders: TwoBlenders
    journal: JournalView
    commits: Sequence[Commit]
    observe: Callable[[OperationPart], None]
    progress: Callable[[int, int], None]
    redone: int = 0
    opened: list[OpenedCommit] = field(default_factory=list[OpenedCommit])
    parts: list[OperationPart] = field(default_factory=list[OperationPart])
    notes: list[Mapping[DesignNote, int]] = field(default_factory=list[Mapping[DesignNote, int]])
    known_parts: dict[Place, PropertyPart] = field(default_factory=dict[Place, PropertyPart])

    def run(self) -> VersionReplay:
        for number, commit in enumerate(self.commits, 1):
            if commit.parent is None or not commit.replayable:
                self._start(commit)
            elif commit.hash_before != commit.hash_after:
                self._redo(commit)
            self.progress(number, len(self.commits))
        final = self._compare(None)
        # An operation can change other data too, for example an object that stands on a moved one.
        self._report(
            self.commits[-1], "scene", "found by the comparison of the complete scenes", (), self._news(final, ())
        )
        return VersionReplay(
            len(self.commits), self.redone, tuple(self.opened), tuple(self.parts), final, total(self.notes)
        )

    def _start(self, commit: Commit) -> None:
        version = self.blenders.versions[1]
        kind: PartKind
        if commit.replayable:
            checkpoint = None
            kind = "begun"
            message = f"a new scene begins with other settings in Blender {version}"
        else:
            checkpoint = self.journal.checkpoints.route(commit.number).checkpoint
            kind = "opened"
            message = f"its checkpoint is another scene when Blender {version} opens it"

        old, _ = self.blenders.both(lambda worker: open_checkpoint(worker, checkpoint))
        _require(commit, old)
        if not commit.replayable:
            self.opened.append(OpenedCommit(commit.number, commit.operation_id, commit.tool))
        self.known_parts.clear()
        self._report(commit, kind, message, (), self._news(self._compare(None), ()))

    def _redo(self, commit: Commit) -> None:
        old, new = self.blenders.step(commit)
        reached = old["after"]
        if not old["ok"]:
            reached = f"a failure ({old['message']})"
        _require(commit, reached)
        self.redone += 1
        if not new["ok"]:
            self._continue_after_failure(commit, new)
            return
        results = tuple(_result_parts(old["result"], new["result"]))
        keys = changed_blocks(old, new)
        if keys:
            properties = self._news(self._compare(keys), keys)
        else:
            properties = ()
        kind: PartKind
        if results:
            kind = "result"
        else:
            kind = "scene"
        self._report(commit, kind, "", results, properties)

    def _continue_after_failure(self, commit: Commit, answer: StepAnswer) -> None:
        """Report the failure, and continue in both Blenders with the scene of the old one."""
        message = f"it failed in Blender {self.blenders.versions[1]}: {answer['message']}"
        part = OperationPart(commit.number, commit.operation_id, commit.tool, "failed", message, (), ())
        self.observe(part)
        self.parts.append(part)
        self.blenders.hand_over()
        self.known_parts.clear()
        self._news(self._compare(None), ())

    def _compare(self, keys: Sequence[tuple[str, ...]] | None) -> tuple[PropertyPart, ...]:
        difference = self.blenders.compare(keys)
        self.notes.append(difference.notes)
        return difference.parts

    def _news(self, parts: Sequence[PropertyPart], keys: Sequence[tuple[str, ...]]) -> tuple[PropertyPart, ...]:
        """Return the differences that did not exist before, and remember the current ones.

        For the datablocks in `keys`, forget differences that no longer exist.
        """
        news = tuple(part for part in parts if self.known_parts.get(part.place()) != part)
        compared_blocks = {key[:2] for key in keys}
        outdated = [location for location in self.known_parts if location[:2] in compared_blocks]
        for location in outdated:
            del self.known_parts[location]
        self.known_parts |= {part.place(): part for part in parts}
        return news

    def _report(
        self,
        commit: Commit,
        kind: PartKind,
        message: str,
        results: tuple[ResultPart, ...],
        properties: tuple[PropertyPart, ...],
    ) -> None:
        if results or properties:
            part = OperationPart(commit.number, commit.operation_id, commit.tool, kind, message, results, properties)
            self.observe(part)
            self.parts.append(part)


def _require(commit: Commit, reached: str) -> None:
    if reached != commit.hash_after:
        raise RebuildFailed(
            f"commit {commit.number} ({commit.tool}) leads to another scene than in the journal, even in its own Blender:"
            f" expected {commit.hash_after}, found {reached}",
            cure="Run `blendwright replay` to find the last commit that still agrees with the journal.",
            details={"expected": commit.hash_after, "found": reached},
        )


def _result_parts(old: Any, new: Any, path: str = "") -> Iterator[ResultPart]:
    """Yield the differences of two results by JSON pointer, without fingerprints."""
    if isinstance(old, dict) and isinstance(new, dict):
        ours, theirs = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        for key in sorted(ours.keys() | theirs.keys()):
            if not key.endswith("fingerprint"):
                yield from _result_parts(ours.get(key), theirs.get(key), f"{path}/{key}")
    elif isinstance(old, list) and isinstance(new, list):
        first, second = cast("list[Any]", old), cast("list[Any]", new)
        if len(first) != len(second):
            yield ResultPart(path, old, new)
        else:
            for index, (old_item, new_item) in enumerate(zip(first, second, strict=True)):
                yield from _result_parts(old_item, new_item, f"{path}/{index}")
    elif not same_value(old, new):
        yield ResultPart(path, old, new)
