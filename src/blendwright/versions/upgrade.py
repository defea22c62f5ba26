"""The upgrade of a workspace to another Blender.

It replays the history in the old and the new Blender and writes a report of the differences. Only then, if the caller
wants it, it commits the upgrade. That commit is the only change: a report alone takes no lock and leaves the
workspace unchanged.
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
# The number of operations with pictures. Each picture takes seconds, and the first differences say most.
MOST_PICTURES = 5
REPLAYED_FILE = "replayed.blend"


@dataclass(frozen=True, slots=True)
class UpgradeOptions:
    """The choices of an upgrade. `take` is the scene that the new line begins with; None chooses it by the
    differences.

    `move` commits the upgrade if nothing differs, and `accept_differences` commits it in any case.
    """

    move: bool = False
    accept_differences: bool = False
    take: Take | None = None
    directory: Path | None = None
    pictures: int = MOST_PICTURES


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The result of an upgrade. `commit` is the commit that moved the workspace, or None.

    `configured` is the Blender that blendwright.toml names. It takes precedence over the Blender that made the
    workspace's scene.
    """

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
    """Compare the workspace in the old and the new Blender, write a report, and move the workspace if the options
    say so.

    Raise Refusal when the workspace is already on the new Blender, EnvironmentUnfit when the old Blender is not the
    workspace's own, and RebuildFailed when the journal does not lead to its own scenes.
    """
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
        blenders = TwoBlenders(*(source.worker() for source in workers))
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
        # If nothing differs, one picture of the last scene is enough.
        second_pictures = None
        if replayed.parts or compared.parts or self._options.take == "opened":
            second_pictures = self._final("opened")
        second = ComparedScene(OPENED, compared.parts, second_pictures)
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
            f"the report cannot be written to {self._directory}", "Name another directory: --report DIR."
        ):
            sha256 = report.write(self._directory)
        # After a failed operation, the replayed scene continues from the old Blender's scene anyway.
        taken: Take = "replayed"
        if self._options.take is not None:
            taken = self._options.take
        elif replayed.failed or replayed.final:
            taken = "opened"
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
        # Later commands open the file, so the commit must have the hash of the scene as opened from the file.
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
        old, new = self._blenders.old.profile.version[:2], self._blenders.new.profile.version[:2]
        name = f"upgrade-{'.'.join(map(str, old))}-to-{'.'.join(map(str, new))}-commit-{head.number}"
        directory = self._options.directory or self._workspace / "artifacts" / name
        with unfit_on_os_error(f"{directory} cannot be created", "Name another directory: --report DIR."):
            directory.mkdir(parents=True, exist_ok=True)
        return directory


def own_line(journal: JournalView) -> Sequence[Commit]:
    """Return the part of HEAD's line that belongs to HEAD's Blender: from the baseline, or from the last upgrade."""
    line = head_line(journal)
    upgrades = [index for index, commit in enumerate(line) if commit.kind == "rebaseline"]
    if upgrades:
        return line[upgrades[-1] :]
    return line


def _require_pair(blenders: TwoBlenders, head: Commit) -> None:
    """Raise EnvironmentUnfit unless the old Blender wrote the workspace, and Refusal if the new one wrote it."""
    old_hash, new_hash = blenders.both(lambda worker: worker.reset())
    ours, theirs = scheme_of(old_hash), scheme_of(new_hash)
    written = scheme_of(head.hash_after)
    if theirs == written:
        message = f"the workspace is already on Blender {theirs.rpartition(':')[2]}"
        raise Refusal.of(Fault.SCENE_CONFLICT, message, "Name another Blender with --blender.")
    if ours != written:
        method, _, version = written.partition(":")
        if method != ours.partition(":")[0]:
            method_number = method.removeprefix("bw")
            message = (
                f"the workspace uses method {method_number} of the fingerprint, which this Blendwright no longer has"
            )
            fix = "Use the Blendwright version that wrote it to export the scene, and create a new workspace with it."
        else:
            message = f"the workspace was written with Blender {version}, but Blender {ours.rpartition(':')[2]} is to replay it"
            fix = f"Add that Blender: blendwright blender add {version}. Or give its path: --from PATH."
        raise EnvironmentUnfit(message, cure=fix, details={"expected": written, "found": ours})


@contextlib.contextmanager
def _locked_journal(directory: Path) -> Generator[Journal]:
    """Yield the journal for writing, after the usual recovery."""
    with read_journal(directory):
        pass  # raises if the workspace does not exist, because `Journal` would create it
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
