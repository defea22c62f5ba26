"""Cores that do whatever they like are killed whenever: every time the disk holds what was told, once, and the next one goes on."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from crash_evidence import assert_holds, facts
from crash_mess import Hit, Mess
from crash_server import server, told_of

from blendwright.engine.scene.rebuild import replay
from blendwright.workspace.reading import inspection_workers, read_journal

QUICK = 5
FULL = 1000
# Kills in one workspace, before its history is replayed from its beginning.
KILLS = 25
# Another number plays other lives; a life is the same whenever it is played, but for the instants that the machine chooses.
SEED = int(os.environ.get("BLENDWRIGHT_KILLS_SEED", "0"))


def hits(chance: random.Random) -> list[Hit]:
    """Workers first, as often as it happens, then the core. Most of them while something is done, some while Blender starts."""
    found: list[Hit] = []
    while not found or found[-1].whom == "worker":
        whom = chance.choice(("core", "worker", "both"))
        starting = chance.random() < 0.15
        found.append(
            Hit(0, chance.uniform(0, 2), whom)
            if starting
            else Hit(chance.choice((1, 2, 5, 20, 80, 200)), chance.expovariate(200), whom)
        )
    return found


def live(place: Path, seed: int, kills: int) -> None:
    workspace, chance, done = place / f"life-{seed}", random.Random(seed), 0
    with server("crash_mess") as ask:
        while done < kills:
            mess = Mess(str(workspace), chance.getrandbits(40), hits(chance))
            what = f"life {seed}, after {done} kills, {mess}"
            code = ask(mess)
            done += len(mess.hits)
            assert code == -signal.SIGKILL, f"{what}: the core ended with {code}, by an error of its own"
            if (workspace / "journal.db").exists():
                _assert_holds(workspace, what)
    _assert_replays(workspace, f"life {seed}")


def _assert_holds(workspace: Path, what: str) -> None:
    try:
        assert_holds(workspace, facts(told_of(workspace)), {})
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from error


def _assert_replays(workspace: Path, what: str) -> None:
    with read_journal(workspace) as journal, inspection_workers(workspace) as blenders:
        if journal.head is not None:
            found = replay(blenders.worker(), journal)
            assert found.ok, (what, found)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_some_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    live(tmp_path, SEED, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED + 1, SEED + 1 + FULL // KILLS))
def test_a_thousand_random_kills_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    live(tmp_path, seed, KILLS)
