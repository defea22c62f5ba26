"""Moving a workspace to another Blender: its history is replayed there beside the old one, the report says where they part, and only
then, when it is wanted, the move is committed.

Nothing is changed but by that one commit: a report without a move takes no lock and leaves the workspace as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from blendwright.bridge.worker_source import WorkerSource
from blendwright.engine.files.scratch import SCENE_FILE, copy_scene
from blendwright.engine.moves.commit_names import require_head
from blendwright.engine.scene.fingerprint_scheme import scheme_of
from blendwright.engine.scene.rebuild import head_line
from blendwright.journal import Journal, JournalView
from blendwright.records.commits import Commit
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.events import WorkspaceClosed
from blendwright.values.faults import Fault
from blendwright.versions.compare_content import total
from blendwright.versions.pictures import PicturePair, take_pictures
from blendwright.versions.rebaseline import rebaseline
from blendwright.versions.replay import OperationPart, replay_in_both
from blendwright.versions.report import ComparedScene, VersionReport
from blendwright.versions.two_blenders import TwoBlenders
from blendwright.workspace.observing.event_bus import EventBus, open_event_bus
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import inspection_workers, read_journal
from blendwright.workspace.recovery import recover
from blendwright.workspace.scratch import unfit_on_os_error
from blendwright.workspace.settings import heads_directory

Blender = str | Path | WorkerSource | None
Take = Literal["replayed", "opened"]
REPLAYED, OPENED = "the journal replayed", "HEAD's scene opened"
FINAL = "final"
# Every picture takes seconds; the first places where scenes part say most.
MOST_PICTURES = 5
REPLAYED_FILE = "replayed.blend"


@dataclass(frozen=True, slots=True)
class UpgradeOptions:
    """`take` says which scene the new line begins with; None leaves it to what was found. `move` commits, where scenes part only with
    `accept_differences`."""

    move: bool = False
    accept_differences: bool = False
    take: Take | None = None
    directory: Path | None = None
    pictures: int = MOST_PICTURES


@dataclass(frozen=True, slots=True)
class Upgrade:
    """`commit` is the one that moved the workspace; None where it was not moved. `configured` is the Blender that blendwright.toml names,
    which counts more than the one that the workspace belongs to."""

    report: VersionReport
    directory: Path
    taken: Take
    commit: Commit | None
    configured: str | None

    def to_json(self) -> dict[str, Any]:
        if self.commit is None:
            moved = None
        else:
            moved = {"commit": self.commit.number, "scene_hash": self.commit.hash_after}
        ok = self.report.same or self.commit is not None
        return {
            "ok": ok,
            "moved": moved,
            "taken": self.taken,
            "configured": self.configured,
            "directory": str(self.directory),
            **self.report.to_json(),
        }


def upgrade(
    workspace: str | Path,
    new: Blender,
    *,
    old: Blender = None,
    options: UpgradeOptions | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Upgrade:
    """Compare the workspace in its own Blender and in a new one, write a report, and move it where that is wanted.

    Raises Refusal where there is nothing to move, EnvironmentUnfit where one of the Blenders is not what is needed, RebuildFailed where
    the journal does not lead to its own scenes."""
    options = options or UpgradeOptions()
    with contextlib.ExitStack() as open_parts:
        directory = Path(workspace).resolve()
        journal: JournalView
        if options.move or options.accept_differences:
            journal = open_parts.enter_context(_locked_journal(directory))
        else:
            journal = open_parts.enter_context(read_journal(directory))
        head = require_head(journal)
        workers = [open_parts.enter_context(inspection_workers(directory, blender=blender)) for blender in (old, new)]
        blenders = TwoBlenders(*(each.worker() for each in workers))
        _require_pair(blenders, head)
        return _Upgrade(directory, journal, blenders, options, progress).run(head)


class _Upgrade:
    def __init__(
        self,
        workspace: Path,
        journal: JournalView,
        blenders: TwoBlenders,
        options: UpgradeOptions,
        progress: Callable[[int, int], None],
    ) -> None:
        self._journal = journal
        self._blenders = blenders
        self._options = options
        self._progress = progress
        self._workspace = workspace
        self._pictures: dict[int, PicturePair] = {}

    def run(self, head: Commit) -> Upgrade:
        self._directory = self._report_directory(head)
        commits = own_line(self._journal)
        replayed = replay_in_both(self._blenders, self._journal, commits, self._picture, self._progress)
        first = ComparedScene(REPLAYED, replayed.final, self._final("replayed"))
        self._blenders.new.save(REPLAYED_FILE, full=False)
        self._blenders.hand_over()
        compared = self._blenders.compare()
        # Where all is the same, one picture of the last scene is enough.
        shown = bool(replayed.parts or compared.parts or self._options.take == "opened")
        second = ComparedScene(OPENED, compared.parts, self._final("opened") if shown else None)
        report = VersionReport(
            subject=str(self._workspace),
            old=self._blenders.versions[0],
            new=self._blenders.versions[1],
            scenes=(first, second),
            notes=total([replayed.notes, compared.notes]),
            operations=replayed.parts,
            pictures=self._pictures,
            opened=replayed.opened,
            commits=replayed.commits,
            redone=replayed.redone,
        )
        with unfit_on_os_error(
            f"the report cannot be written to {self._directory}", "Name another place: --report DIR."
        ):
            sha256 = report.write(self._directory)
        # Where an operation failed, what was replayed begins with the old one's scene anyway.
        taken: Take = self._options.take or ("opened" if replayed.failed or replayed.final else "replayed")
        if self._wanted(report):
            commit = self._move(report, sha256, taken)
        else:
            commit = None
        configured = load_policy(self._workspace).policy.blender.use
        return Upgrade(report, self._directory, taken, commit, configured)

    def _wanted(self, report: VersionReport) -> bool:
        return self._options.accept_differences or (self._options.move and report.same)

    def _move(self, report: VersionReport, sha256: str, taken: Take) -> Commit:
        assert isinstance(self._journal, Journal)
        new = self._blenders.new
        scratch = new.require_process().scratch
        if taken == "replayed":
            copy_scene(scratch / REPLAYED_FILE, scratch / SCENE_FILE)
            new.open(SCENE_FILE)
        # What a later command opens is the file: it is the scene of the file that counts.
        new.save(SCENE_FILE, full=False)
        scene_hash = new.open(SCENE_FILE)
        args = {"blender": ".".join(map(str, new.profile.version)), "take": taken}
        receipt = {**report.for_receipt(sha256), "accepted_differences": not report.same}
        return rebaseline(self._journal, scratch / SCENE_FILE, scene_hash, args, receipt)

    def _picture(self, part: OperationPart) -> None:
        if len(self._pictures) < self._options.pictures and part.commit not in self._pictures:
            pair = take_pictures(self._blenders, self._directory, f"commit-{part.commit}")
            if pair is not None:
                self._pictures[part.commit] = pair

    def _final(self, name: str) -> PicturePair | None:
        if self._options.pictures:
            return take_pictures(self._blenders, self._directory, f"{FINAL}-{name}")
        return None

    def _report_directory(self, head: Commit) -> Path:
        old, new = (".".join(map(str, each.profile.version[:2])) for each in (self._blenders.old, self._blenders.new))
        name = f"upgrade-{old}-to-{new}-commit-{head.number}"
        directory = self._options.directory or self._workspace / "artifacts" / name
        with unfit_on_os_error(f"{directory} cannot be made", "Name another place: --report DIR."):
            directory.mkdir(parents=True, exist_ok=True)
        return directory


def own_line(journal: JournalView) -> Sequence[Commit]:
    """HEAD's line as far as it belongs to HEAD's Blender: from the baseline, or from where the workspace was moved there."""
    line = head_line(journal)
    moved = [place for place, commit in enumerate(line) if commit.kind == "rebaseline"]
    if moved:
        return line[moved[-1] :]
    return line


def _require_pair(blenders: TwoBlenders, head: Commit) -> None:
    """Raises EnvironmentUnfit unless the old Blender wrote the workspace, Refusal where the new one did."""
    ours, theirs = (scheme_of(reached) for reached in blenders.both(lambda worker: worker.reset()))
    written = scheme_of(head.hash_after)
    if theirs == written:
        message = f"the workspace belongs to Blender {theirs.rpartition(':')[2]} already"
        raise Refusal.of(Fault.SCENE_CONFLICT, message, "Name another Blender with --blender.")
    if ours != written:
        method, _, version = written.partition(":")
        if method != ours.partition(":")[0]:
            had = method.removeprefix("bw")
            message = (
                f"the workspace was written with method {had} of the fingerprint, which this blendwright has no more"
            )
            cure = "Use the blendwright that wrote it to export the scene, and begin a new workspace with it."
        else:
            message = f"the workspace was written with Blender {version}, and Blender {ours.rpartition(':')[2]} is to replay it"
            cure = f"Get that one: blendwright blender add {version}; or say where it is: --from PATH."
        raise EnvironmentUnfit(message, cure=cure, details={"expected": written, "found": ours})


@contextlib.contextmanager
def _locked_journal(directory: Path) -> Generator[Journal]:
    """The journal for writing, with what others left behind put in order."""
    with read_journal(directory):
        pass  # there is one: moving begins none
    events = EventBus()
    policy = load_policy(directory).policy
    head_command = policy.journal.audit_heads_command
    journal = Journal(directory, heads_outside=heads_directory(policy), head_command=head_command, observe=events)
    try:
        open_event_bus(events, directory)
        recover(journal, 0)
        yield journal
    finally:
        events(WorkspaceClosed())
        journal.close()
