"""The heaps of a server, which must not grow while nothing is kept.

The C library gives a heap to nearly every thread, and each keeps what its busiest moment took, with holes where something was freed. One
is enough, since Python has one thread at work at a time; a second one had holes of a megabyte around what little it held. At rest the holes
are given back. Python looks for cycles among old objects only when a
quarter as many have come as there were; most of them are loaded code, so tens of thousands of dead ones would wait between the living,
and leave holes that nobody can give back. What was loaded is set apart, so that the quarter is one of what requests leave.

Python also remembers what it found under a name in a type, in 4,096 places, and keeps the name. The place follows from where the name lies
in memory, so a name that is made anew for each look (by an f-string, or by C code) takes another place each time: these places
fill for hours. At rest they are emptied.

And it has a table of all names. Names that come and go with requests use up its places, freed ones too, until after some 40,000 of them
it is made anew, three times as large as what is in it: two megabytes more, once, some twenty minutes after the start. That is done at the
start.
"""

from __future__ import annotations

import ctypes
import gc
import sys

# <malloc.h> of glibc. Other C libraries have no such function, or refuse the number: nothing is lost then.
M_ARENA_MAX = -8
MOST = 1
# Collections of one generation before the next older one is looked at, too. Half of what Python has for the middle one and a fifth for the
# oldest: with what was loaded set apart, a collection of all takes a few milliseconds, every 200 calls or so.
BETWEEN = (5, 2)
# Names in the table of a server, where Python cannot say it (before 3.12).
NAMES = 60_000


def limit_heaps() -> None:
    """For this process, from now on: to be called before it has threads."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, MOST)


def set_loaded_objects_apart() -> None:
    """Once in a process, when it is ready to serve: what is there then stays, and is not looked at for garbage any more."""
    if gc.get_freeze_count():
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(gc.get_threshold()[0], *BETWEEN)
    # How many old objects there are is counted by a collection, and this one has nothing to look at.
    gc.collect()
    make_room_for_names()


def make_room_for_names() -> None:
    """Let Python's table of names get the size that it would have later. Takes some 40 ms."""
    names: int = getattr(sys, "getunicodeinternedsize", lambda: NAMES)()
    # It has room for less than four times as many as there were when it was last made.
    for number in range(3 * names):
        sys.intern(f"~bw~{number}")


def give_back_free_memory() -> None:
    """To the system, what was freed and is still held, dead cycles and names that were looked up included; takes a few milliseconds."""
    ctypes.pythonapi.PyType_ClearCache()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
