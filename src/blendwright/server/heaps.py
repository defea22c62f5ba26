"""How many heaps a server has. The C library gives a heap to nearly every thread, and each keeps what its busiest moment took: a server
that works for days with changing threads grows that way, though nothing is kept. Two are enough for what threads allocate here."""

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
