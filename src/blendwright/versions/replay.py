"""The journal replayed in another Blender beside its own, operation by operation: where do results and scenes part?

The old Blender must lead to the hashes of the journal. The new one has other hashes, so there what every operation answered and the
datablocks that it changed are compared. What cannot be replayed (imports, code) is opened in both from the checkpoint that the journal has.
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
    """A value of an operation's result that is another one in the new Blender."""

    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class OperationPart:
    """Where the Blenders part: an operation that failed in the new one, that answered something else, or that left another scene.

    `properties` are those that part since this operation; what parted before and still does is not said again."""

    commit: int
    operation_id: str
    tool: str
    kind: PartKind
    message: str
    results: tuple[ResultPart, ...]
    properties: tuple[PropertyPart, ...]


@dataclass(frozen=True, slots=True)
class OpenedCommit:
    """A commit whose scene came from its checkpoint in both Blenders, since its step cannot be replayed."""

    commit: int
    operation_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class VersionReplay:
    """`final` is where the last scenes part. `failed` says that an operation did not run in the new Blender, which went on with the
    old one's scene."""

    commits: int
    redone: int
    opened: tuple[OpenedCommit, ...]
    parts: tuple[OperationPart, ...]
    final: tuple[PropertyPart, ...]
    notes: Mapping[DesignNote, int]

    @property
    def failed(self) -> bool:
        return any(part.kind == "failed" for part in self.parts)


def replay_in_both(
    blenders: TwoBlenders,
    journal: JournalView,
    commits: Sequence[Commit],
    observe: Callable[[OperationPart], None] = lambda part: None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> VersionReplay:
    """Commits of one line, oldest first, from one on that brings a scene (a baseline, a checkpoint). `observe` is called while both
    Blenders hold the scenes that part. Raises RebuildFailed where the old Blender does not lead to what the journal says."""
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
    known: dict[Place, PropertyPart] = field(default_factory=dict[Place, PropertyPart])

    def run(self) -> VersionReplay:
        for number, commit in enumerate(self.commits, 1):
            if commit.parent is None or not commit.replayable:
                self._start(commit)
            elif commit.hash_before != commit.hash_after:
                self._redo(commit)
            self.progress(number, len(self.commits))
        final = self._compare(None)
        # An operation changes also what is not its own: an object that another one stands on.
        self._report(self.commits[-1], "scene", "seen when the whole scenes were compared", (), self._news(final, ()))
        return VersionReplay(
            len(self.commits), self.redone, tuple(self.opened), tuple(self.parts), final, total(self.notes)
        )

    def _start(self, commit: Commit) -> None:
        if commit.replayable:
            checkpoint = None
        else:
            checkpoint = self.journal.checkpoints.route(commit.number).checkpoint
        old, _ = self.blenders.both(lambda worker: open_checkpoint(worker, checkpoint))
        _require(commit, old)
        if not commit.replayable:
            self.opened.append(OpenedCommit(commit.number, commit.operation_id, commit.tool))
        self.known.clear()
        version = self.blenders.versions[1]
        if commit.replayable:
            message = f"a new scene begins with other settings in Blender {version}"
        else:
            message = f"its checkpoint is another scene when Blender {version} opens it"
        kind: PartKind
        if commit.replayable:
            kind = "begun"
        else:
            kind = "opened"
        self._report(commit, kind, message, (), self._news(self._compare(None), ()))

    def _redo(self, commit: Commit) -> None:
        old, new = self.blenders.step(commit)
        _require(commit, old["after"] if old["ok"] else f"a failure ({old['message']})")
        self.redone += 1
        if not new["ok"]:
            self._go_on_after_failure(commit, new)
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

    def _go_on_after_failure(self, commit: Commit, answer: StepAnswer) -> None:
        """The rest is compared from the old one's scene on."""
        message = f"it failed in Blender {self.blenders.versions[1]}: {answer['message']}"
        part = OperationPart(commit.number, commit.operation_id, commit.tool, "failed", message, (), ())
        self.observe(part)
        self.parts.append(part)
        self.blenders.hand_over()
        self.known.clear()
        self._news(self._compare(None), ())

    def _compare(self, keys: Sequence[tuple[str, ...]] | None) -> tuple[PropertyPart, ...]:
        difference = self.blenders.compare(keys)
        self.notes.append(difference.notes)
        return difference.parts

    def _news(self, parts: Sequence[PropertyPart], keys: Sequence[tuple[str, ...]]) -> tuple[PropertyPart, ...]:
        """Those that did not part before in the same way. Of the datablocks that were looked at, what parts no more is forgotten."""
        news = tuple(part for part in parts if self.known.get(part.place()) != part)
        looked_at = {key[:2] for key in keys}
        gone = [place for place in self.known if place[:2] in looked_at]
        for place in gone:
            del self.known[place]
        self.known |= {part.place(): part for part in parts}
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


def _require(commit: Commit, found: str) -> None:
    if found != commit.hash_after:
        raise RebuildFailed(
            f"commit {commit.number} ({commit.tool}) leads to another scene than the journal says, in its own Blender already:"
            f" expected {commit.hash_after}, found {found}",
            cure="Run `blendwright replay` to see up to where the journal agrees.",
            details={"expected": commit.hash_after, "found": found},
        )


def _result_parts(old: Any, new: Any, path: str = "") -> Iterator[ResultPart]:
    """Where two results differ, by JSON pointer; fingerprints are left out."""
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
            for index, (one, other) in enumerate(zip(first, second, strict=True)):
                yield from _result_parts(one, other, f"{path}/{index}")
    elif not same_value(old, new):
        yield ResultPart(path, old, new)
