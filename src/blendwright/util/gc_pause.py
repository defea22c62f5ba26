"""A pause of Python's cyclic garbage collector while reading a large plan, since it would visit a million objects in
vain.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

# Operations of a plan and bytes of a text from which the pause pays off.
LARGE_PLAN, LARGE_TEXT = 1000, 200_000


@contextmanager
def gc_paused() -> Generator[None]:
    """Pause the cyclic collector. Reference counting continues."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
