"""The current scene in a window that a person has open. The window is compared with HEAD and never overwritten.

Every plan is a turn. At its start, the window's full fingerprint shows the person's actions since the last turn:
none; undo or redo, which HEAD follows; or edits, which become a commit of the person. At its end the window gets
one undo step, and Blendwright leaves nothing else in the file. Work that needs files or another process runs on a
headless Blender of the same version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from blendwright.engine.files.access import FileAccess
from blendwright.engine.files.scratch import copy_saved_scene, copy_scene, make_directory
from blendwright.engine.ledger import Ledger
from blendwright.engine.moves.navigation import History
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.engine.scene.external_files import Externals, findings_about
from blendwright.engine.scene.fingerprint_scheme import other_scheme, scheme_of
from blendwright.engine.scene.head_state import HeadState
from blendwright.engine.scene.live_scene import LiveScene
from blendwright.engine.scene.rebuild import redo_in_batches, take_worker
from blendwright.journal import Journal
from blendwright.policy.objections import FULL
from blendwright.records.commits import Commit, CommitKind
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import (
    BlendwrightError,
    EnvironmentUnfit,
    Refusal,
    WorkerError,
    WorkerFault,
    WorkerLost,
)
from blendwright.values.events import CallIds, Observer, Remark, WorkerTrouble, silent
from blendwright.values.faults import Fault
from blendwright.values.findings import cut
from blendwright.window.changes import described, taken_in
from blendwright.window.exclusive_step import WindowStep
from blendwright.window.navigation import WindowMoves
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.wire.remote_scene import HANG_SECONDS, RemoteScene
from blendwright.wire.remote_window import RemoteWindow
from blendwright.wire.window_methods import DETACHED, BeginAnswer
from blendwright.wire.worker_port import WorkerPool

EDIT = "window.edit"
# Seconds that a plan waits for the person to leave edit mode or to end a modal operator.
READY_SECONDS = 2.0
# In the session's scratch directory: the window's scene before a headless Blender opens it, and after that one
# saved it.
WINDOW_DIRECTORY = "window"
WINDOW_FILE = "window.blend"
TAKEN_FILE = "taken.blend"
ADOPTED_FILE = "adopted.blend"
# Commits to search back for the scene to which the person returned.
MAX_UNDONE_COMMITS = 5000
MAX_REASONS = 8
CONFINEMENT_REASON = "code runs in a separate, confined process next to the window"
CHOOSE_FIX = (
    "Look at the window and choose: `blendwright attach --restore` loads the journal's scene into it, "
    "`blendwright attach --keep` continues with the window's scene."
)


class Binding(Protocol):
    """The stored state of a workspace about its window, which outlives a session."""

    @property
    def diverged(self) -> str:
        """The reason why the journal and the window have different scenes, so that a person must choose; empty
        otherwise.
        """
        ...

    def set_diverged(self, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Turn:
    """A running plan in the window, and the scene at its start."""

    label: str
    commit: int
    hash: str


class WindowScene:
    """The scene host for a window. Not thread-safe: one caller at a time.

    `headless` has HEAD's scene in a worker process, for calls that need one. It follows HEAD when it is needed.
    """

    def __init__(
        self,
        connect: Callable[[], RemoteWindow],
        binding: Binding,
        pool: WorkerPool,
        journal: Journal,
        catalogue: str,
        *,
        scratch: Path,
        externals: Externals | None = None,
        background: BackgroundCheckpoints | None = None,
        observe: Observer = silent,
    ) -> None:
        """Initialize the host. `pool` has headless Blenders of the window's version."""
        self._connect = connect
        self._binding = binding
        self._scratch = scratch
        self._window: RemoteWindow | None = None
        self._turn: _Turn | None = None
        self._unfinished: _Turn | None = None
        self._stale = False
        self._pool = pool
        self._journal = journal
        self._observe = observe
        self.catalogue = catalogue
        self.externals = externals or Externals()
        self.head = HeadState(journal, background)
        self.epoch = 1
        self._adopted = frozenset[tuple[str, str]]()
        self.headless = LiveScene(pool, journal, catalogue, spare=True, externals=self.externals, observe=observe)
        self.head.allow(self.externals.readable(journal))
        self.follow_head()

    # ------------------------------------------------------------------ turns

    @contextlib.contextmanager
    def turn(self, label: str) -> Generator[None]:
        """Run one plan or call as a turn: first follow the person's actions, at the end make one undo step.

        Raises Refusal when the window is not ready.
        """
        if self._turn is not None:
            yield
            return
        self._begin_turn(label)
        try:
            yield
        finally:
            self._finish_turn()

    def _begin_turn(self, label: str) -> None:
        if self._binding.diverged:
            raise EnvironmentUnfit(self._binding.diverged, cure=CHOOSE_FIX)
        window, answer = self._start_turn(label)
        if answer["reasons"]:
            reasons = "; ".join(cut(reason) for reason in answer["reasons"][:MAX_REASONS])
            message = f"the window is not ready: {reasons}"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Finish that in Blender, then run it again.")

        try:
            self._follow_person(window, answer["hash"], answer["file"])
            head = self._journal.head
            assert head is not None
            self._turn = _Turn(label, head.number, answer["hash"])
        except BaseException:
            with contextlib.suppress(WorkerError):
                window.end_turn(label, changed=False)
            raise

    def _start_turn(self, label: str) -> tuple[RemoteWindow, BeginAnswer]:
        """Start a turn in the window, with a new connection if necessary, and return the window and its answer."""
        try:
            window = self._connected()
            self._settle_unfinished(window)
            return window, window.begin_turn(label, READY_SECONDS)
        except WorkerLost:
            self._drop_window()
        except WorkerFault as error:
            if error.code != DETACHED:
                raise self._unanswered(error) from error
            self._drop_window()
            raise self._diverge(error.message) from error
        except WorkerError as error:
            raise self._unanswered(error) from error
        window = self._connected()  # raises an error if the window is closed
        try:
            return window, window.begin_turn(label, READY_SECONDS)
        except WorkerError as error:
            raise self._unanswered(error) from error

    @staticmethod
    def _unanswered(error: WorkerError) -> EnvironmentUnfit:
        cure = "Check what the window waits for, then run it again; or press Disconnect and Connect in its sidebar."
        return EnvironmentUnfit(f"the window did not start the plan: {error.message}", cure=cure)

    def _drop_window(self) -> None:
        if self._window is not None:
            self._window.close()
        self._window = None
        self._unfinished = None

    def _finish_turn(self) -> None:
        """End the turn. An error here is only reported, because the work of the turn is already done."""
        turn = self._turn
        window = self._window
        self._turn = None
        if turn is None or window is None or not window.alive:
            return
        if window.has_late_work:
            # The window still runs a request that timed out. The next turn reverts its result first.
            self._unfinished = turn
            return
        try:
            self._end_turn(window, turn)
        except BlendwrightError as error:
            self._unfinished = turn
            self._observe(Remark(f"the window could not end '{turn.label}': {error.message}"))

    def _end_turn(self, window: RemoteWindow, turn: _Turn) -> None:
        if self._stale:
            self._bring_back(window, turn)
        head = self._journal.head
        window.end_turn(turn.label, changed=head is not None and head.hash_after != turn.hash)

    def _settle_unfinished(self, window: RemoteWindow) -> None:
        """Revert the late result of a request that timed out. If the person has worked on since, it counts as the
        person's edit.
        """
        turn = self._unfinished
        self._unfinished = None
        if turn is None:
            return
        self._stale = True
        try:
            self._end_turn(window, turn)
        except WorkerFault as error:
            self._observe(Remark(f"the late result of '{turn.label}' stays in the window: {error.message}"))
            with contextlib.suppress(WorkerFault):
                window.end_turn(turn.label, changed=True)
        except BaseException:
            self._unfinished = turn
            raise

    def press(self, key: Literal["undo", "redo"]) -> None:
        """Do what Ctrl-Z or Ctrl-Shift-Z does in the window. The next turn follows it."""
        window = self._connected()
        if key == "undo":
            window.press_undo()
        else:
            window.press_redo()

    # ------------------------------------------------------------------ actions of the person

    def _follow_person(self, window: RemoteWindow, window_hash: str, file: str) -> None:
        """Move HEAD to the window's scene, whose hash is `window_hash`. Commit the scene if the journal does not
        have it.
        """
        self._adopted = frozenset[tuple[str, str]]()
        self._stale = False
        head = self._journal.head
        if head is None:
            self._commit_scene(window, window_hash, "baseline", "workspace.new", file)
            return
        if scheme_of(window_hash) != scheme_of(head.hash_after):
            raise other_scheme(head.hash_after, window_hash)
        if window_hash == head.hash_after:
            self.head.known_hash = window_hash
            return
        redo_number = self._journal.redo_target()
        if redo_number is not None and self._journal.show(redo_number).hash_after == window_hash:
            self._journal.move_head("redo", redo_number)
            self.follow_head()
            return

        earlier = self._commit_with(window_hash)
        if earlier is None:
            self._commit_scene(window, window_hash, "adopt", EDIT, file)
            return
        self._journal.move_head("undo", earlier.number)
        self.follow_head()

    def _commit_with(self, window_hash: str) -> Commit | None:
        """Return the newest ancestor of HEAD with this scene hash, or None."""
        for commit in self._journal.log(limit=MAX_UNDONE_COMMITS):
            if commit.hash_after == window_hash:
                return commit
        return None

    def _commit_scene(self, window: RemoteWindow, window_hash: str, kind: CommitKind, tool: str, file: str) -> None:
        """Commit the window's whole scene, in the form in which a headless Blender finds it in a file."""
        # Start with an empty directory, without files of an earlier time.
        saved = make_directory(self._scratch, WINDOW_DIRECTORY) / WINDOW_FILE
        may_read = set(self.externals.readable(self._journal))
        window.save_copy(saved)
        try:
            if kind == "baseline":
                worker = self.headless.fresh_worker()
            else:
                worker = self.headless_at_head().worker()
            process = worker.require_process()
            scratch = process.scratch
            copy_saved_scene(saved, scratch / ADOPTED_FILE, process.scratch_mb)
            if file:
                home = str(Path(file).parent)
            else:
                home = ""
            answer = worker.swap(ADOPTED_FILE, deadline=HANG_SECONDS, drop_unused=True, home=home)
            opened_hash = answer["hash"]
            if kind == "baseline":
                changes = ()
            else:
                changes = answer["changes"]
            # Save it again without unused datablocks, which the next opening would lose.
            worker.save(ADOPTED_FILE)
            if home:
                externals = self.externals.named_in(worker, Path(home))
            else:
                externals = ()
            # Copy it to a name that the window does not know.
            saved = self._scratch / TAKEN_FILE
            copy_scene(scratch / ADOPTED_FILE, saved)
            if kind == "baseline":
                worker.abandon()
        except BlendwrightError as error:
            message = f"the scene of the window cannot be committed: {error.message}"
            cure = "Save the file in Blender, and check that it opens again."
            raise Refusal.of(Fault.SCENE_CONFLICT, message, cure) from error
        finally:
            self.headless.follow_rollback()
        if opened_hash != window_hash:
            message = "the scene in the window differs from the scene in its file after opening it again"
            cure = (
                "Save the file in Blender, open it again (File, Revert), and connect. If it refers to files above its own folder "
                "(//../…), make those paths absolute."
            )
            raise Refusal.of(Fault.SCENE_CONFLICT, message, cure)
        checkpoint = self._journal.checkpoints.stage(saved, window_hash)
        if kind == "baseline":
            before = window_hash
        else:
            before = self.hash
        self._journal.commit([taken_in(kind, tool, file, before, checkpoint, changes, externals)])
        saved.unlink(missing_ok=True)
        if not may_read.issuperset(self.externals.readable(self._journal)):
            # A worker gets its readable files at its start.
            self.headless.discard()
        self.head.known_hash = window_hash
        self.head.redo_ms = 0.0
        self._adopted = frozenset((change[0], change[1]) for change in changes)
        if changes:
            self._observe(Remark(f"committed from the window: {described(changes)}"))
        for finding in findings_about(externals):
            self._observe(Remark(f"{finding.message}. {finding.cure}"))

    # ------------------------------------------------------------------ the window as a worker

    @property
    def profile(self) -> WorkerProfile:
        """The window's profile, with the confinement of the separate process that runs foreign code."""
        profile = self._connected().profile
        return profile.model_copy(
            update={"confinement": {**profile.confinement, "level": FULL, "reason": CONFINEMENT_REASON}}
        )

    @property
    def adopted(self) -> frozenset[tuple[str, str]]:
        return self._adopted

    @property
    def hash(self) -> str:
        if self.head.known_hash is None:
            self.worker()
        assert self.head.known_hash is not None
        return self.head.known_hash

    @property
    def ready(self) -> bool:
        return self._turn is not None and self._window is not None and self._window.alive and not self._stale

    def worker(self) -> RemoteScene:
        """Return the window. In a turn, it holds HEAD's scene."""
        window = self._connected()
        if self._turn is not None and self._stale:
            self._bring_back(window, self._turn)
        return window

    def step(self, request: StepRequest, *, deadline: float, cancel: CancelToken | None) -> StepAnswer:
        return self.worker().step(request, deadline=deadline, cancel=cancel)

    def take_worker(self) -> RemoteScene:
        return take_worker(self._pool, self.catalogue)

    def exclusive_runner(self, ledger: Ledger, files: FileAccess) -> WindowStep:
        return WindowStep(self, self._journal, ledger, files)

    def history(self) -> History:
        return History(self._journal, WindowMoves(self._journal, self))

    def window(self) -> RemoteWindow:
        """Return the window. In a turn, it holds HEAD's scene."""
        self.worker()
        return self._connected()

    @property
    def open_window(self) -> RemoteWindow | None:
        """The window, or None if it is not connected yet."""
        return self._window

    def _connected(self) -> RemoteWindow:
        window = self._window
        if window is None or not window.alive:
            if self._turn is not None:
                raise EnvironmentUnfit(
                    "the window closed during a plan; the journal has the work up to that point",
                    cure="Open Blender again, press Connect, then: blendwright attach --restore",
                )
            window = self._connect()
            self._window = window
            self._unfinished = None
        return window

    def _bring_back(self, window: RemoteWindow, turn: _Turn) -> None:
        """Restore HEAD's scene in the window after a failure: revert the turn, then redo its commits."""
        head = self._journal.head
        assert head is not None
        reverted_hash = window.take_back()
        if reverted_hash != turn.hash:
            raise self._diverge(f"reverting '{turn.label}' in the window did not restore the scene from before")
        steps = self._journal.checkpoints.steps_between(turn.commit, head.number)
        if steps is None:
            raise self._diverge(f"the commits of '{turn.label}' cannot be redone in the window")
        for _, mismatch in redo_in_batches(window, steps):
            if mismatch is not None:
                raise self._diverge(f"{mismatch.reason()} in the window")
        self._stale = False

    def _diverge(self, reason: str) -> EnvironmentUnfit:
        self._binding.set_diverged(reason)
        return EnvironmentUnfit(reason, cure=CHOOSE_FIX)

    def discard(self) -> None:
        """Mark the window's scene as outdated. It is restored before its next use."""
        if self._turn is not None:
            self._stale = True

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        self.head.record_commit(hash, redo_ms, saved=saved)

    def follow_head(self) -> None:
        self.discard()
        self.head.follow_head()

    def follow_rollback(self) -> None:
        self.follow_head()

    def report_loss(self, error: BlendwrightError, ids: CallIds) -> None:
        if self._window is None:
            pid = None
        else:
            pid = self._window.profile.pid
        self._observe(WorkerTrouble(ids, pid, error.message, [], lost=True))
        self.discard()

    def report_log(self, ids: CallIds, message: str) -> None:
        """Do nothing: the output of a window goes to the person's own console."""

    # ------------------------------------------------------------------ the headless Blender

    def headless_at_head(self) -> LiveScene:
        """Return the headless host with HEAD's scene, for work that needs files or must not happen in front of the
        person.
        """
        if self.headless.head.known_hash != self.hash:
            self.headless.follow_rollback()
        return self.headless

    def save(self, *, deadline: float = HANG_SECONDS) -> Path:
        return self.headless_at_head().save(deadline=deadline)

    def checkpoint(self) -> None:
        """Do nothing: the window keeps the scene, and a headless Blender rebuilds it automatically."""

    @property
    def worth_saving(self) -> bool:
        return False

    def close(self) -> None:
        """Close the connection, and leave the window as it is."""
        self._drop_window()
        self.head.join_background()
