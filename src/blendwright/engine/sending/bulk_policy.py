"""Decides how many operations travel in one message, and how many messages are on their way at once.

Bulks are quicker, but they leave open which operation ended a worker and which one took long. After such an event the policy sends smaller
messages until the answer is clear.
"""

from __future__ import annotations

from typing import NamedTuple

from blendwright.engine.scene.rebuild import WINDOW

# Runs of at least this many operations travel in bulks.
LONG_RUN = 128
# Operations in one bulk, and bulks on their way at once: one is run while the other one is on its way. Fewer in a bulk take more time each,
# since every bulk goes through all that Blender and Python do in a step, and finds it out of the processor's caches.
BULK, BULKS_UNDERWAY = 128, 2
# The smallest bulk after one that took too long.
SMALLEST_BULK = 8


class NextMessage(NamedTuple):
    """The most operations in the next message, and the most messages that may be on their way with it."""

    operations: int
    underway: int


class BulkPolicy:
    """The state of one run: the size of its bulks, and how many of the next operations are exempt from them."""

    def __init__(self, operations: int) -> None:
        """`operations` is the length of the run."""
        self._in_bulks = operations >= LONG_RUN
        self._size = BULK
        self._alone = 0
        """The number of next operations that are sent with nothing else on its way, because one of them ended a worker."""
        self._separate = 0
        """The number of next operations that get a message each, so that each has its own time."""

    def next_message(self, calls_at_once: int) -> NextMessage:
        """Return the limits of the next message. `calls_at_once` is the most that the contract allows on their way."""
        if self._alone:
            most = 1
        else:
            most = min(WINDOW, calls_at_once)
        if not self._in_bulks or self._separate:
            return NextMessage(1, most)
        # A contract that asks for fewer at once than usual gets no more than that.
        if most >= WINDOW:
            size = self._size
        else:
            size = max(1, min(self._size, most // BULKS_UNDERWAY))
        return NextMessage(size, BULKS_UNDERWAY if size > 1 else most)

    def note_sent(self, operations: int) -> None:
        self._separate = max(0, self._separate - operations)

    def note_answered(self, answers: int) -> None:
        self._alone = max(0, self._alone - answers)

    def send_alone(self, operations: int) -> None:
        """Send each of the next operations with nothing else on its way: together they are too large, or one ended the worker."""
        self._alone = operations

    def note_slow(self, answers: int, recalled: int) -> None:
        """Send each of the `recalled` operations in a message of its own, and later ones in smaller bulks.

        `answers` is how many of the bulk's operations were answered in time."""
        self._separate = recalled
        self._size = max(SMALLEST_BULK, answers // 2)

    def note_whole_bulk(self) -> None:
        """Allow larger bulks after one that was answered completely."""
        self._size = min(BULK, 2 * self._size)
