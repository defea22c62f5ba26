"""Pauses Python's cyclic garbage collector while a large plan is read: it would visit a million objects that all stay."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

# From so many operations or bytes on it is worth it.
LARGE_PLAN, LARGE_TEXT = 1000, 200_000


@contextmanager
def gc_paused() -> Generator[None]:
    """What is freed by reference counts is freed as always."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
