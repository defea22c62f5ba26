"""The hash of HEAD's scene, the cost of its redo, and the background checkpoints of a long session.

Both kinds of scene host have a HeadState, because it does not depend on where the scene is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.journal import Journal
from blendwright.wire.worker_port import ReadableFile


class HeadState:
    """The state of HEAD's scene. Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, background: BackgroundCheckpoints | None) -> None:
        self._journal = journal
        self._background = background
        self.known_hash: str | None = None
        """The hash of HEAD's scene, or None in a workspace without a commit, where only Blender can report it."""
        self.redo_ms = 0.0
        """Milliseconds that redoing every commit since the newest checkpoint would take."""

    def follow_head(self) -> None:
        """Set the hash to the journal's hash of HEAD."""
        head = self._journal.head
        if head is None:
            self.known_hash = None
        else:
            self.known_hash = head.hash_after

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        """Record that commits led to this hash. `saved` means that the last of them has a checkpoint."""
        self.known_hash = hash
        if saved:
            self.redo_ms = 0.0
        else:
            self.redo_ms = self.redo_ms + redo_ms
        self.advance_background()

    def allow(self, readable: Sequence[ReadableFile]) -> None:
        """Let the Blender that saves in the background read these external files."""
        if self._background is not None:
            self._background.allow(readable)

    def advance_background(self) -> None:
        """Begin a checkpoint if redo has become long. Call this between two commits, and after an all-or-nothing
        plan.
        """
        if self._background is not None and self.redo_ms > self._background.due_ms:
            self.redo_ms = self._background.advance(self.redo_ms)

    def record_background(self) -> None:
        """Add a finished checkpoint to the journal. Call this before a rebuild, which the checkpoint shortens."""
        if self._background is not None:
            self.redo_ms = self._background.record(self.redo_ms)

    def end_background(self) -> None:
        """Begin no more checkpoints, and record a finished one."""
        if self._background is not None:
            self._background.close()
            self.record_background()

    def join_background(self) -> None:
        """Wait for the thread of the background checkpoints. Call it after the workers have ended."""
        if self._background is not None:
            self._background.join()

    @property
    def background_disagreed(self) -> bool:
        """True when redo in the background led to another scene than the session's."""
        return self._background is not None and self._background.disagreed
