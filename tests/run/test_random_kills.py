"""Cores that do whatever they like are killed whenever: every time the disk holds what was told, once, and the next one goes on."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from crash_evidence import assert_holds, facts
from crash_mess import Hit, Mess
from crash_server import server, told_of

from blendwright.app.past import looking, stage
from blendwright.run.replaying import replay

QUICK = 12
FULL = 1000
# Kills in one workspace, before its history is replayed from its beginning and another one is started.
LIVES = 25
# One that failed is played again with BLENDWRIGHT_KILLS_SEED=n and its number of kills.
SEED = int(os.environ.get("BLENDWRIGHT_KILLS_SEED", "1"))


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


def killed_at_random(place: Path, kills: int) -> None:
    done, life = 0, 0
    with server("crash_mess") as ask:
        while done < kills:
            seed, life = SEED + life, life + 1
            workspace = place / f"life-{seed}"
            chance = random.Random(seed)
            end = min(kills, done + LIVES)
            while done < end:
                mess = Mess(str(workspace), chance.getrandbits(40), hits(chance))
                code = ask(mess)
                done += len(mess.hits)
                # Killed by us, and not ended by an error of its own.
                assert code == -9, f"life {seed}, {mess}: the core ended with {code}"
                if (workspace / "journal.db").exists():
                    _assert_holds(workspace, f"life {seed}, after {mess}")
            _assert_replays(workspace, f"life {seed}")


def _assert_holds(workspace: Path, what: str) -> None:
    try:
        assert_holds(workspace, facts(told_of(workspace)), {})
    except AssertionError as error:
        raise AssertionError(f"{what}: {error}") from error


def _assert_replays(workspace: Path, what: str) -> None:
    with looking(workspace) as journal, stage(workspace) as blenders:
        if journal.head is not None:
            found = replay(blenders.worker(), journal)
            assert found.ok, (what, found)


@pytest.mark.timeout(300)
def test_some_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_at_random(tmp_path, QUICK)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_a_thousand_random_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    killed_at_random(tmp_path, FULL)
