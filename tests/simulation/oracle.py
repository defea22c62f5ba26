"""What must hold after everything that can happen to a core: read from the files alone, and compared with what callers were told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from blendwright.journal import JournalView
from blendwright.records.audit import AuditHead
from blendwright.values.faults import Fault
from blendwright.values.report import OperationReport
from journal.ledger import assert_sound
from simulation.toy_code import assert_kept
from simulation.toy_scene import CODE, EXPORT, ToyScene

_COMMITS = (
    "SELECT number, parent, request_id, operation_id, tool, args, hash_before, hash_after, replayable FROM commits"
    " ORDER BY number"
)
_APPROVALS = """
SELECT c.request_id, c.operation_id, json_extract(a.record, '$.approval_id'), p.state
FROM commits c JOIN audit a ON a.sequence = c.audit_sequence
LEFT JOIN approvals p ON p.id = json_extract(a.record, '$.approval_id')
WHERE c.tool = 'object.delete' OR c.tool = 'python.run' AND json_extract(c.args, '$.mode') = 'trusted' ORDER BY c.number
"""
Operation = tuple[str, str]


@dataclass
class Oracle:
    """Knows what was acknowledged. `workspace` is where the core's files are now."""

    workspace: Path
    files: Path
    """Where exports go, each under the name of its request and operation."""
    acknowledged: dict[Operation, tuple[int, str]] = field(default_factory=dict[Operation, tuple[int, str]])
    not_done: set[Operation] = field(default_factory=set[Operation])
    """Reported as not done, and not asked for again since."""
    moves: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    head: int | None = None
    """Where HEAD is, for certain, since the last thing that ended."""
    since: list[int] = field(default_factory=list[int])
    """Commits that were acknowledged since then, all of them on HEAD's line."""
    moving: bool = False
    """Whether something is under way that moves HEAD elsewhere."""
    tags: dict[str, int] = field(default_factory=dict[str, int])
    tagging: dict[str, int] | None = None
    """What the tags are where what is under way was done."""
    branches: set[str] = field(default_factory=lambda: {"main"})
    branching: set[str] | None = None
    """What the names of the branches are where what is under way was done."""
    approved: set[str] = field(default_factory=set[str])
    """The approvals that a person gave."""
    nobody_there: bool = False
    """Whether whoever is asked says nothing, so that questions are left for later."""
    asked: set[Operation] = field(default_factory=set[Operation])
    """What was done, and only with the approval of a person."""
    written: set[Path] = field(default_factory=set[Path])
    """The files that acknowledged calls of code have left."""
    _audit_head: AuditHead | None = None
    """Of the chain as it was when somebody last knew for certain: it only grows."""
    _scenes: dict[tuple[Any, ...], ToyScene] = field(default_factory=dict[tuple[Any, ...], ToyScene])

    # ------------------------------------------------------------------ what callers are told

    def tell(self, request: str, report: OperationReport) -> None:
        """The report of an operation, which is durable by now."""
        operation = request, report.operation_id
        if report.status == "succeeded" and report.commit is not None and report.scene_hash_after is not None:
            self.acknowledged[operation] = report.commit, report.scene_hash_after
            self.since.append(report.commit)
            self.not_done.discard(operation)
        elif report.status in ("failed", "rolled_back", "skipped") and report.fault is not Fault.IDEMPOTENCY_CONFLICT:
            assert (
                report.status == "rolled_back" or operation not in self.acknowledged or not self._on_line(operation)
            ), f"{operation} was acknowledged as commit {self.acknowledged[operation][0]}, and is now {report.status}"
            self.not_done.add(operation)

    def _on_line(self, operation: Operation) -> bool:
        return self.acknowledged[operation][0] in self.line()

    def line(self) -> list[int]:
        """HEAD's line, newest first, as the files say."""
        if not self._begun():
            return []
        with _reading(self.workspace) as journal:
            return [commit.number for commit in journal.log(limit=1_000_000)]

    # ------------------------------------------------------------------ what the files say

    def check(self) -> ToyScene | None:
        """The scene of HEAD, found by going through all commits; raises AssertionError where anything is not as it must be."""
        if not self._begun():
            assert not self.acknowledged, "what was acknowledged is gone with the journal"
            return None
        assert_sound(self.workspace)
        db: Any = apsw.Connection(str(self.workspace / "journal.db"), apsw.SQLITE_OPEN_READONLY)
        try:
            commits = list(db.execute(_COMMITS))
            checkpoints = dict(db.execute("SELECT number, sha256 FROM checkpoints"))
            gone = {number for (number,) in db.execute("SELECT number FROM rolled_back")}
            boundaries = list(db.execute("SELECT request_id, base FROM boundaries WHERE state = 'open'"))
            announced = list(db.execute("SELECT request_id, operation_id, state, effect FROM intents"))
            moves = set(db.execute("SELECT kind, to_commit FROM head_moves"))
            head = db.execute("SELECT to_commit FROM head_moves ORDER BY id DESC LIMIT 1").fetchone()
            tags = dict(db.execute("SELECT name, number FROM tags"))
            approvals = list(db.execute(_APPROVALS))
        finally:
            db.close()
        if self._audit_head is not None:
            with _reading(self.workspace) as journal:
                assert journal.audit.verify([self._audit_head]).problems == (), "the chain of records was cut"
        # What a plan that is kept whole had done when it was broken off: whoever opens the workspace takes it back first.
        for request, base in boundaries:
            gone |= {row[0] for row in commits if row[2] == request and row[0] > base}
        standing = {(row[2], row[3]): (row[0], row[7]) for row in commits if row[0] not in gone}
        self._check_promises(commits, gone, standing, {tuple(row[:2]): row[2] for row in announced}, moves)
        self._check_code_files(commits, announced)
        self._check_approvals(approvals)
        assert tags in (self.tags, self.tagging), f"the tags are {tags}, and were acknowledged as {self.tags}"
        self.tags, self.tagging = tags, None
        with _reading(self.workspace) as journal:
            branches = {branch.name for branch in journal.branches.listed()}
        assert branches in (self.branches, self.branching), (
            f"there are {branches}, and were acknowledged {self.branches}"
        )
        self.branches, self.branching = branches, None
        scenes = self._folded(commits, checkpoints)
        if head is None:
            assert self.head is None
            return None
        self._check_head(head[0], {row[0]: row[1] for row in commits}, gone)
        return scenes.get(head[0])

    def _begun(self) -> bool:
        if not (self.workspace / "journal.db").exists():
            return False
        try:
            db: Any = apsw.Connection(str(self.workspace / "journal.db"), apsw.SQLITE_OPEN_READONLY)
            version = db.execute("PRAGMA user_version").get
        except apsw.ReadOnlyError:
            # Broken off before there was a write-ahead log: whoever may write takes it back.
            db = apsw.Connection(str(self.workspace / "journal.db"), apsw.SQLITE_OPEN_READWRITE)
            version = db.execute("PRAGMA user_version").get
        db.close()
        return version != 0

    def _check_promises(
        self,
        commits: list[tuple[Any, ...]],
        gone: set[int],
        standing: dict[Operation, tuple[int, str]],
        intents: dict[Any, str],
        moves: set[tuple[str, int]],
    ) -> None:
        times = Counter(
            (row[2], row[3]) for row in commits if row[0] not in gone and row[3] not in ("baseline", "adopt")
        )
        parents = {row[0]: row[1] for row in commits}
        for operation, count in times.items():
            if count > 1:
                numbers = [row[0] for row in commits if (row[2], row[3]) == operation and row[0] not in gone]
                lines = [_ancestors(parents, number) for number in numbers]
                assert not any(a in line for a in numbers for b, line in zip(numbers, lines, strict=True) if a != b), (
                    f"{operation} was applied twice, as commits {numbers}"
                )
        for operation, (number, hash) in self.acknowledged.items():
            there = {(row[0], row[7]) for row in commits if (row[2], row[3]) == operation and row[0] not in gone}
            assert (number, hash) in there, f"{operation} was acknowledged as commit {number}, and is not there"
        exported = {row[0] for row in commits if row[4] == EXPORT}
        for (request, id), (number, _) in self.acknowledged.items():
            if number in exported:
                file = self.files / f"{request} {id}.stl"
                assert file.exists(), f"{file.name} was acknowledged, and is not there"
                assert file.read_bytes().endswith(b"\n"), f"{file.name} was acknowledged, and is there in part"
        for operation in self.not_done - self.acknowledged.keys():
            assert operation not in standing, (
                f"{operation} was reported as not done, and is commit {standing[operation]}"
            )
        for kind, target in self.moves:
            assert (kind, target) in moves, f"the {kind} to commit {target} was acknowledged"
        for file in self.files.glob("*-* *.stl"):
            request, _, id = file.stem.partition(" ")
            assert (request, id) in intents, f"{file.name} was brought out, and nobody had announced it"
            # Of one that was taken back with its plan it is known that it was done: nothing outside the scene is taken back.
            known = any((row[2], row[3]) == (request, id) for row in commits)
            assert known or intents[request, id] != "settled", (
                f"{file.name} is there, its operation is not, and nobody is told that its fate is not known"
            )

    def _check_code_files(self, commits: list[tuple[Any, ...]], announced: list[tuple[Any, ...]]) -> None:
        """What code left outside: announced, and settled only where its call is committed. Such calls have ids that nobody chose."""
        for file in self.written:
            assert file.exists() and file.read_bytes().endswith(b"\n"), (
                f"{file.name} was acknowledged, and is not there whole"
            )
        for file in self.files.glob("code *.stl"):
            known = any(row[4] == CODE and file.name in row[5] for row in commits)
            states = {state for *_, state, effect in announced if file.name in effect}
            assert states, f"{file.name} was brought out, and nobody had announced it"
            assert known or states != {"settled"}, f"{file.name} is there, its call is not, and nobody is told"

    def _check_approvals(self, approvals: list[tuple[Any, ...]]) -> None:
        """Each is good for one operation, which a person allowed."""
        used = Counter(id for *_, id, _ in approvals if id is not None)
        twice = [id for id, times in used.items() if times > 1]
        assert not twice, f"approvals {twice} were used more than once"
        for request, operation, id, state in approvals:
            if id is not None:
                assert id in self.approved, f"{request} {operation} was done with approval {id}, which nobody gave"
                assert state == "used", f"approval {id} of {request} {operation} is {state}, and could be used again"
        known = {(request, operation): id for request, operation, id, _ in approvals}
        without = [operation for operation in self.asked if operation in known and known[operation] is None]
        assert not without, f"{without} were done without the approval that they need"

    def _check_head(self, head: int, parents: dict[int, int | None], gone: set[int]) -> None:
        if self.moving or self.head is None:
            return
        ancestors = _ancestors(parents, head)
        assert self.head in ancestors, f"HEAD was at commit {self.head}, and is at {head}, which does not follow it"
        lost = [number for number in self.since if number not in ancestors]
        assert not lost, f"commits {lost} were acknowledged, and HEAD ({head}) does not follow them"

    def _folded(self, commits: list[tuple[Any, ...]], checkpoints: dict[int, str]) -> dict[int, ToyScene]:
        """The scene of every commit: of a checkpoint, or of its parent and what was done."""
        scenes: dict[int, ToyScene] = {}
        for row in commits:
            number, parent, _, _, tool, args, before, after, replayable = row
            scene = self._scenes.get(row)
            if scene is None:
                if parent is None:
                    scene = ToyScene()
                elif tool == CODE and replayable:
                    assert before == after, f"commit {number} is code that changed something, and is to be done again"
                    scene = scenes[parent]
                elif replayable:
                    scene = scenes[parent].copy()
                    scene.apply(tool, json.loads(args), None)
                else:
                    assert number in checkpoints, f"no way leads to commit {number}"
                    scene = self._saved(checkpoints[number])
                if tool == CODE and parent is not None:
                    assert_kept(scenes[parent], scene, json.loads(args))
                assert scene.hash == after, f"commit {number} says {after}, and leads to {scene.hash}"
                self._scenes[row] = scene
            scenes[number] = scene
            if number in checkpoints:
                assert self._saved(checkpoints[number]).hash == after, (
                    f"the checkpoint of commit {number} is of another scene"
                )
        return scenes

    def _saved(self, sha256: str) -> ToyScene:
        return ToyScene.of_bytes((self.workspace / "checkpoints" / f"{sha256}.blend").read_bytes())

    def settle(self, journal: JournalView) -> None:
        """Something ended, and the core lives: HEAD is known, and follows what was acknowledged."""
        line = [commit.number for commit in journal.log(limit=1_000_000)]
        if not self.moving and self.head is not None:
            lost = {self.head, *self.since} - set(line)
            assert not lost, f"commits {sorted(lost)} were acknowledged, and HEAD ({line[0]}) does not follow them"
        self.head, self.moving = (line[0] if line else None), False
        self.since.clear()
        self._audit_head = journal.audit.verify().head if line else None


def _ancestors(parents: dict[int, int | None], number: int) -> set[int]:
    found: set[int] = set()
    at: int | None = number
    while at is not None:
        found.add(at)
        at = parents[at]
    return found


class _reading:
    """The journal, for those who only read."""

    def __init__(self, workspace: Path) -> None:
        self._view = JournalView(workspace)

    def __enter__(self) -> JournalView:
        return self._view

    def __exit__(self, *_: object) -> None:
        self._view.close()
