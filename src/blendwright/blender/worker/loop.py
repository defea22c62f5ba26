"""The worker's side of the wire. It takes requests one by one, in order, and answers each.

This module knows nothing of Blender or of the methods. If frames cannot be separated any more, the loop sends one last error and ends.
"""

import contextlib
from collections.abc import Mapping

from blendwright.blender.worker.conversation import Conversation, Handler, error_answer
from blendwright.wire import frames

ENDED = 0
STREAM_BROKEN = 3


class Loop:
    """A conversation over two file descriptors."""

    def __init__(self, read_fd: int, write_fd: int, handlers: Mapping[str, Handler]) -> None:
        self._reader = frames.CountingReader(read_fd)
        self._write_fd = write_fd
        self._conversation = Conversation(handlers)

    def run(self) -> int:
        """Serve until the other side closes the pipe. Return the exit code for the process."""
        conversation = self._conversation
        # A broken pipe during a write means that the core has ended, so no process can receive an answer.
        with self._reader, contextlib.suppress(BrokenPipeError):
            try:
                while (body := self._next()) is not None:
                    self._send(conversation.receive(body))
            except frames.FrameError as error:
                self._send(conversation.answer_pending())
                if isinstance(error, frames.OversizedFrame):
                    code = "oversized_frame"
                else:
                    code = "truncated_frame"
                frames.write_frame(self._write_fd, error_answer(None, code, str(error)))
                return STREAM_BROKEN
            self._send(conversation.answer_pending())
        return ENDED

    def _next(self) -> bytes | None:
        """Return the next request, or None at the end. Send pending answers before waiting for a request."""
        conversation = self._conversation
        if conversation.has_pending and (conversation.must_answer_pending() or not self._reader.has_more()):
            self._send(conversation.answer_pending())
        return self._reader.read_frame()

    def _send(self, answers: list[bytes]) -> None:
        if answers:
            frames.write_frames(self._write_fd, answers)
