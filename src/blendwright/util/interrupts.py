"""Delayed handling of Ctrl-C while the program loads."""

from __future__ import annotations

import signal


def hold_interrupts() -> None:
    """Block Ctrl-C until `accept_interrupts`. A program that still loads could not report it properly."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def accept_interrupts() -> None:
    """Deliver Ctrl-C again, including one that arrived in the meantime."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
