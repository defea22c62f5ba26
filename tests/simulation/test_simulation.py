"""Core, journal and worker port in a simulated world: whatever the seed has happen, nothing that was acknowledged is lost or doubled.

A seed that fails is played again by the command that the failure prints.
"""

from __future__ import annotations

from collections import Counter

import pytest

from simulation.crash_names import ALL
from simulation.life import Lived, live
from simulation.toy_code import NEVER_KEPT, SOUND, WRITES

QUICK, FULL, BLOCK = 200, 10_000, 25
LIVED: dict[int, Lived] = {}


def lived(seed: int) -> Lived:
    """The same for all tests of this file: a seed takes its time, and never comes out otherwise."""
    if seed not in LIVED:
        LIVED[seed] = live(seed)
    return LIVED[seed]


@pytest.mark.parametrize("first", range(0, QUICK, BLOCK))
def test_whatever_happens_nothing_acknowledged_is_lost_or_doubled(first: int) -> None:
    for seed in range(first, first + BLOCK):
        lived(seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(QUICK, FULL, 100))
def test_ten_thousand_seeds_lose_and_double_nothing(first: int) -> None:
    for seed in range(first, first + 100):
        live(seed)


def test_a_seed_is_the_same_whenever_it_is_played() -> None:
    for seed in (3, 5, 8):
        assert live(seed).trace == lived(seed).trace


def test_everything_that_can_happen_happens_in_some_seed() -> None:
    struck = Counter[str]()
    for seed in range(QUICK):
        struck.update(lived(seed).struck)
    died_at = {name.partition(" ")[2] for name in struck if name.startswith(("kill ", "power "))}
    assert set(ALL) - died_at == set(), "nobody dies there"
    kinds = {name.partition(" ")[0] for name in struck}
    assert kinds >= {"kill", "power", "interrupt", "full", "loss", "lie", "excess"}
    assert struck["no room for a copy"]


def test_code_of_every_kind_is_kept_where_it_may_be_and_refused_where_it_may_not() -> None:
    met = {name for seed in range(QUICK) for name in lived(seed).struck if name.startswith("code ")}
    assert met >= {f"code safe {deed} {end}" for deed in (*SOUND, WRITES) for end in ("kept", "not kept")}
    assert met >= {f"code safe {deed} not kept" for deed in NEVER_KEPT}
    assert met >= {f"code trusted {deed} kept" for deed in SOUND}
    assert not met & {f"code safe {deed} kept" for deed in NEVER_KEPT}
