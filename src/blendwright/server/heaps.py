"""The heaps of a server. The C library gives one to nearly every thread, and each keeps what its busiest moment took, with holes where
something was freed: a server that works for days grows that way, though nothing is kept. Two heaps are enough for what threads allocate
here, and at rest the holes are given back."""

from __future__ import annotations

import ctypes

# <malloc.h> of glibc. Other C libraries have no such function, or refuse the number: nothing is lost then.
M_ARENA_MAX = -8
MOST = 2


def limit_heaps() -> None:
    """For this process, from now on: to be called before it has threads."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, MOST)


def give_back_free_memory() -> None:
    """To the system, what was freed and is still held; takes a few milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
