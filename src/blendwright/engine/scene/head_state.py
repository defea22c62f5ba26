"""The hash of HEAD's scene, the cost of redoing it, and the checkpoints that a long session saves in the background.

Both kinds of scene host have one of these, because none of it depends on where the scene is open.
"""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.journal import Journal
from blendwright.wire.worker_port import ReadableFile


class HeadState:
    """Not thread-safe: one caller at a time."""

    def __init__(self, journal: Journal, background: BackgroundCheckpoints | None) -> None:
        self._journal = journal
        self._background = background
        self.known_hash: str | None = None
        """The hash of HEAD's scene, None where only Blender can say it: in a workspace without a commit."""
        self.redo_ms = 0.0
        """How long it would take to redo every commit since the newest checkpoint."""

    def follow_head(self) -> None:
        """Take the hash that the journal has for HEAD."""
        head = self._journal.head
        if head is None:
            self.known_hash = None
        else:
            self.known_hash = head.hash_after

    def record_commit(self, hash: str, redo_ms: float, *, saved: bool) -> None:
        """Note that commits led to this hash. `saved` says that the last of them has a checkpoint."""
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
        """Begin a checkpoint where redo has become long.

        Call it between two commits, and after a plan that is kept whole or not at all."""
        if self._background is not None and self.redo_ms > self._background.due_ms:
            self.redo_ms = self._background.advance(self.redo_ms)

    def record_background(self) -> None:
        """Give the journal the checkpoint that is ready. Call it before a rebuild, which becomes shorter by it."""
        if self._background is not None:
            self.redo_ms = self._background.record(self.redo_ms)

    def end_background(self) -> None:
        """Begin no more checkpoints, and keep the one that is ready."""
        if self._background is not None:
            self._background.close()
            self.record_background()

    def join_background(self) -> None:
        """Wait for the thread of the background checkpoints. Call it after the workers have ended."""
        if self._background is not None:
            self._background.join()

    @property
    def background_disagreed(self) -> bool:
        """Whether redo in the background led to another scene than the session's."""
        return self._background is not None and self._background.disagreed
