"""Policy for how many operations travel in one message, and how many messages are on their way at once.

Bulks are quicker, but a bulk does not show which of its operations ended a worker or took long. After such an
event the policy sends smaller messages until the answer is clear.
"""

from __future__ import annotations

from typing import NamedTuple

from blendwright.engine.scene.rebuild import WINDOW

# Runs of at least this many operations travel in bulks.
LONG_RUN = 128
# Operations in one bulk, and bulks on their way at once: the worker runs one bulk while the next is on its way.
# Smaller bulks take more time for each operation, because each bulk starts with cold processor caches.
BULK, BULKS_UNDERWAY = 128, 2
# Operations in the smallest bulk after one that took too long.
SMALLEST_BULK = 8


class NextMessage(NamedTuple):
    """The most operations in the next message, and the most messages that may be on their way with it."""

    operations: int
    underway: int


class BulkPolicy:
    """The state of one run: the size of its bulks, and how many of the next operations travel without a bulk."""

    def __init__(self, operations: int) -> None:
        """Initialize the policy for a run of `operations` operations."""
        self._in_bulks = operations >= LONG_RUN
        self._size = BULK
        self._alone = 0
        """Number of next operations to send with nothing else on its way, because one of them ended a worker."""
        self._separate = 0
        """Number of next operations that get a message each, so that each has its full time limit."""

    def next_message(self, calls_at_once: int) -> NextMessage:
        """Return the limits of the next message. `calls_at_once` is the number of calls that the contract allows
        on their way.
        """
        if self._alone:
            max_underway = 1
        else:
            max_underway = min(WINDOW, calls_at_once)

        if not self._in_bulks or self._separate:
            return NextMessage(1, max_underway)
        # A contract with a lower limit than usual also gets smaller bulks.
        if max_underway >= WINDOW:
            size = self._size
        else:
            size = max(1, min(self._size, max_underway // BULKS_UNDERWAY))

        if size > 1:
            return NextMessage(size, BULKS_UNDERWAY)
        return NextMessage(size, max_underway)

    def note_sent(self, operations: int) -> None:
        self._separate = max(0, self._separate - operations)

    def note_answered(self, answers: int) -> None:
        self._alone = max(0, self._alone - answers)

    def send_alone(self, operations: int) -> None:
        """Send each of the next operations with nothing else on its way.

        The caller uses this when the operations are too large together, or when one of them ended the worker.
        """
        self._alone = operations

    def note_slow(self, answers: int, recalled: int) -> None:
        """Send each of the `recalled` operations in a message of its own, and later operations in smaller bulks.

        `answers` is the number of the bulk's operations that the worker answered in time.
        """
        self._separate = recalled
        self._size = max(SMALLEST_BULK, answers // 2)

    def note_whole_bulk(self) -> None:
        """Allow larger bulks after the worker answered one completely."""
        self._size = min(BULK, 2 * self._size)
