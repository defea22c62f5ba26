"""The current scene where a person has it open: the window is a peer, compared with HEAD and never overwritten.

Every plan is a turn. At its beginning the window's full fingerprint says what the person did since the last one: nothing; undo or redo,
which HEAD follows; or edits, which become a commit of the person's own. At its end there is one undo step, and nothing of ours is left
in the file. What needs files or another process runs beside the window, on a headless Blender of the same version.
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
# So long a plan waits for the person to leave edit mode or to finish what a modal operator does.
READY_SECONDS = 2.0
# In the session's scratch: the window's scene, on its way to a Blender that opens it, and as that one wrote it.
WINDOW_DIRECTORY = "window"
WINDOW_FILE = "window.blend"
TAKEN_FILE = "taken.blend"
ADOPTED_FILE = "adopted.blend"
# So far back it is looked for the scene that the person went back to.
MOST_UNDONE = 5000
MOST_REASONS = 8
BESIDE = "code runs beside the window, in a process of its own that is confined"
CHOOSE = (
    "Look at the window and choose: `blendwright attach --restore` brings the journal's scene into it, "
    "`blendwright attach --keep` goes on with what the window has."
)


class Binding(Protocol):
    """What the workspace remembers about its window between two sessions."""

    @property
    def diverged(self) -> str:
        """Why journal and window are no longer the same scene, where a person has to choose; empty otherwise."""
        ...

    def set_diverged(self, reason: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Turn:
    """A plan that is under way in the window, and the scene that it began with."""

    label: str
    commit: int
    hash: str


class WindowScene:
    """The scene host that is a window. Not thread-safe: one caller at a time.

    `headless` has HEAD's scene in a worker process, for calls that need one. It is brought to HEAD when it is needed."""

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
        """`pool` has Blenders of the window's version, without windows."""
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
        """One plan or call, from the look at what the person did to the undo step. Raises Refusal where it cannot begin now."""
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
            raise EnvironmentUnfit(self._binding.diverged, cure=CHOOSE)
        window, begun = self._begun(label)
        if begun["reasons"]:
            message = f"the window is not ready: {'; '.join(cut(reason) for reason in begun['reasons'][:MOST_REASONS])}"
            raise Refusal.of(Fault.SCENE_CONFLICT, message, "Finish that in Blender, then run it again.")
        try:
            self._follow_person(window, begun["hash"], begun["file"])
            head = self._journal.head
            assert head is not None
            self._turn = _Turn(label, head.number, begun["hash"])
        except BaseException:
            with contextlib.suppress(WorkerError):
                window.end_turn(label, changed=False)
            raise

    def _begun(self, label: str) -> tuple[RemoteWindow, BeginAnswer]:
        """The window, connected anew where the connection was lost, and its answer to the beginning."""
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
        window = self._connected()  # which says so where the window itself is gone
        try:
            return window, window.begin_turn(label, READY_SECONDS)
        except WorkerError as error:
            raise self._unanswered(error) from error

    @staticmethod
    def _unanswered(error: WorkerError) -> EnvironmentUnfit:
        cure = "See what the window waits for, then run it again; or press Disconnect and Connect in its sidebar."
        return EnvironmentUnfit(f"the window did not begin: {error.message}", cure=cure)

    def _drop_window(self) -> None:
        if self._window is not None:
            self._window.close()
        self._window = self._unfinished = None

    def _finish_turn(self) -> None:
        """An outermost place of a turn: what happened in it has happened, whatever is said here."""
        turn, window = self._turn, self._window
        self._turn = None
        if turn is None or window is None or not window.alive:
            return
        if window.has_late_work:
            # It still works on what nobody waits for any more; the next turn puts it in order first.
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
        """Take back what a call did that nobody waited for. Where the person has worked on since, it is theirs now, like any edit."""
        turn, self._unfinished = self._unfinished, None
        if turn is None:
            return
        self._stale = True
        try:
            self._end_turn(window, turn)
        except WorkerFault as error:
            self._observe(Remark(f"what '{turn.label}' did too late stays in the window: {error.message}"))
            with contextlib.suppress(WorkerFault):
                window.end_turn(turn.label, changed=True)
        except BaseException:
            self._unfinished = turn
            raise

    def press(self, key: Literal["undo", "redo"]) -> None:
        """What Ctrl-Z or Ctrl-Shift-Z does; the next turn follows it."""
        window = self._connected()
        (window.press_undo if key == "undo" else window.press_redo)()

    # ------------------------------------------------------------------ what the person did

    def _follow_person(self, window: RemoteWindow, found: str, file: str) -> None:
        """Make HEAD the scene that the window has."""
        self._adopted = frozenset[tuple[str, str]]()
        self._stale = False
        head = self._journal.head
        if head is None:
            self._commit_scene(window, found, "baseline", "workspace.new", file)
            return
        if scheme_of(found) != scheme_of(head.hash_after):
            raise other_scheme(head.hash_after, found)
        if found == head.hash_after:
            self.head.known_hash = found
            return
        redone = self._journal.redo_target()
        if redone is not None and self._journal.show(redone).hash_after == found:
            self._journal.move_head("redo", redone)
        elif (undone := self._commit_with(found)) is not None:
            self._journal.move_head("undo", undone.number)
        else:
            self._commit_scene(window, found, "adopt", EDIT, file)
            return
        self.follow_head()

    def _commit_with(self, found: str) -> Commit | None:
        """The newest commit of HEAD's line whose scene this is."""
        return next((one for one in self._journal.log(limit=MOST_UNDONE) if one.hash_after == found), None)

    def _commit_scene(self, window: RemoteWindow, found: str, kind: CommitKind, tool: str, file: str) -> None:
        """Take the window's scene in as a whole, as a headless Blender finds it in a file."""
        # Whatever the window left there the last time goes.
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
            opened, changes = answer["hash"], () if kind == "baseline" else answer["changes"]
            # As that one writes it: without what nothing uses, which would be gone the next time.
            worker.save(ADOPTED_FILE)
            if home:
                externals = self.externals.named_in(worker, Path(home))
            else:
                externals = ()
            # Under a name that the window was not told.
            saved = self._scratch / TAKEN_FILE
            copy_scene(scratch / ADOPTED_FILE, saved)
            if kind == "baseline":
                worker.abandon()
        except BlendwrightError as error:
            message = f"the scene of the window cannot be taken in: {error.message}"
            raise Refusal.of(
                Fault.SCENE_CONFLICT, message, "Save it in Blender, and look whether it opens again."
            ) from error
        finally:
            self.headless.follow_rollback()
        if opened != found:
            message = "what is open in the window is not what its file holds once it is opened again"
            cure = (
                "Save the file in Blender, open it again (File, Revert), and connect. Where it names files above its own folder "
                "(//../…), make those paths absolute."
            )
            raise Refusal.of(Fault.SCENE_CONFLICT, message, cure)
        checkpoint = self._journal.checkpoints.stage(saved, found)
        if kind == "baseline":
            before = found
        else:
            before = self.hash
        self._journal.commit([taken_in(kind, tool, file, before, checkpoint, changes, externals)])
        saved.unlink(missing_ok=True)
        if not may_read.issuperset(self.externals.readable(self._journal)):
            # What a worker may read is fixed when it starts.
            self.headless.discard()
        self.head.known_hash, self.head.redo_ms = found, 0.0
        self._adopted = frozenset((change[0], change[1]) for change in changes)
        if changes:
            self._observe(Remark(f"taken in from the window: {described(changes)}"))
        for finding in findings_about(externals):
            self._observe(Remark(f"{finding.message}. {finding.cure}"))

    # ------------------------------------------------------------------ the window in place of a worker

    @property
    def profile(self) -> WorkerProfile:
        """The window's, and how foreign code is confined: never in the window, and refused where the process beside it is not."""
        profile = self._connected().profile
        return profile.model_copy(update={"confinement": {**profile.confinement, "level": FULL, "reason": BESIDE}})

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
        """The window; in a turn with HEAD's scene in it."""
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
        """Return the window, in a turn with HEAD's scene in it."""
        self.worker()
        return self._connected()

    @property
    def open_window(self) -> RemoteWindow | None:
        """The window, where it is connected already."""
        return self._window

    def _connected(self) -> RemoteWindow:
        window = self._window
        if window is None or not window.alive:
            if self._turn is not None:
                raise EnvironmentUnfit(
                    "the window has gone in the middle of a plan; what was done until then is in the journal",
                    cure="Open Blender again, press Connect, then: blendwright attach --restore",
                )
            window = self._window = self._connect()
            self._unfinished = None
        return window

    def _bring_back(self, window: RemoteWindow, turn: _Turn) -> None:
        """HEAD's scene after something went wrong: the scene with which the turn began, and what was committed since."""
        head = self._journal.head
        assert head is not None
        found = window.take_back()
        if found != turn.hash:
            raise self._diverge(f"taking back '{turn.label}' in the window led to another scene than it began with")
        steps = self._journal.checkpoints.steps_between(turn.commit, head.number)
        if steps is None:
            raise self._diverge(f"what was done in '{turn.label}' cannot be done again in the window")
        for _, mismatch in redo_in_batches(window, steps):
            if mismatch is not None:
                raise self._diverge(f"{mismatch.reason()} in the window")
        self._stale = False

    def _diverge(self, reason: str) -> EnvironmentUnfit:
        self._binding.set_diverged(reason)
        return EnvironmentUnfit(reason, cure=CHOOSE)

    def discard(self) -> None:
        """What the window holds may not be HEAD's scene: it is brought back before it is used again."""
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

    # ------------------------------------------------------------------ beside the window

    def headless_at_head(self) -> LiveScene:
        """HEAD's scene on a Blender without a window, for what needs files or must not happen in front of a person."""
        if self.headless.head.known_hash != self.hash:
            self.headless.follow_rollback()
        return self.headless

    def save(self, *, deadline: float = HANG_SECONDS) -> Path:
        return self.headless_at_head().save(deadline=deadline)

    def checkpoint(self) -> None:
        """Nobody needs one: the window keeps the scene, and a headless Blender follows by itself."""

    @property
    def worth_saving(self) -> bool:
        return False

    def close(self) -> None:
        """Close the connection, and leave the window as it is."""
        self._drop_window()
        self.head.join_background()
