"""What python.run leaves behind in the process that ran its code."""

from __future__ import annotations

import datetime
import os
import random
import time

import numpy

from support.stage.stage import Stage

CODE = """
import collections, numpy, random
modules = collections._sys.modules
datetime = modules['datetime']
print(modules['time'].time(), datetime.datetime.now().year, numpy.datetime64('now'), modules['os'].urandom(4).hex(), random.random())
"""


def test_code_has_a_clock_and_a_seed_of_its_own_and_the_process_keeps_its_own(stage: Stage) -> None:
    before = (time.time, time.perf_counter, time.sleep, os.urandom, random.Random.seed, random.seed, datetime.datetime)
    numbers = (random.getstate(), str(numpy.random.get_state()))
    printed = [stage.do("python.run", {"code": CODE, "seed": 7})["output"] for _ in range(2)]
    assert printed[0] == printed[1]
    assert printed[0].split()[1:3] == ["2000", "2000-01-01T00:00:00"]
    assert (
        time.time,
        time.perf_counter,
        time.sleep,
        os.urandom,
        random.Random.seed,
        random.seed,
        datetime.datetime,
    ) == before
    assert (random.getstate(), str(numpy.random.get_state())) == numbers
    assert abs(numpy.datetime64("now").astype(int) - time.time()) < 60
