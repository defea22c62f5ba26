"""What happens to a core of the simulation: death at a named point or anywhere, a cut of the power, Ctrl-C, a full disk, lost workers."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import apsw

from simulation.crash_names import ALL
from simulation.disk import Disk
from simulation.oracle import Oracle
from simulation.world import Killed, Rates, Waiting, World

# Points that only those come by who find what another process left when it died there.
LEGACIES = {"recovery.": "whole.before_keep", "resolve.": "call.delivered", "clean.": "checkpoint.before_rename"}
KINDS = {
    "kill": 6, "kill anywhere": 3, "kill in a write": 2, "power": 5, "interrupt": 2, "full": 2, "full at a point": 1,
    "full at a copy": 2, "lose": 4, "nothing": 3,
}  # fmt: skip


class Misfortunes:
    """Chosen before each process begins. `fate` is the point that the seed has come for, until somebody has died there."""

    def __init__(
        self, world: World, disk: Disk, oracle: Oracle, place: Path, lose_worker: Callable[[str], None]
    ) -> None:
        self.world = world
        self.chance = world.chance
        self.disk = disk
        self.oracle = oracle
        self.power_cut = False
        # Every name has its turn, whatever the number of the seed.
        self.fate: str | None = ALL[world.seed % len(ALL)]
        self.outside: set[Path] = set()
        """What stood outside the workspace when the core died: what it writes there on its way out does not count."""
        self._place = place
        self._copies = 0
        self._lose_worker = lose_worker
        disk.on_kill = self.freeze

    def calm(self) -> None:
        """Nothing happens to whoever comes next, unless somebody sees to it."""
        self.world.dead = False
        self.disk.writes_left = self.disk.kill_at_write = self.disk.copies_left = None
        self.world.struck["full"] = 0
        self.world.waiting.clear()

    def wait_at_fate(self) -> None:
        if self.fate is not None:
            self.power_cut = self.chance.random() < 0.4
            self.world.waiting.append(Waiting(1, self._kill, self.fate))

    def prepare(self, number: int) -> None:
        chance, world = self.chance, self.world
        legacy = next((point for name, point in LEGACIES.items() if (self.fate or "").startswith(name)), None)
        # Where nothing was left behind by the one that was to, another one tries.
        leaves = number == 0 if legacy is None else number % 2 == 0
        if self.fate is not None and (not leaves or self.fate.startswith(("baseline.", "create."))):
            # The first process of a life leaves something behind; then death waits at the point that the seed has come for.
            self.wait_at_fate()
            world.say(f"session: death waits at {self.fate}")
            if self.fate.startswith(("quarantine.", "repair.")):
                world.rates.lies = 1.0
            if self.fate.startswith("background."):
                world.rates = Rates()  # whoever follows needs a worker that lasts
            return
        if legacy is not None:
            self.power_cut = False
            world.waiting.append(Waiting(1, self._kill, legacy))
            world.say(f"session: to die at {legacy}")
            return
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        name, nth = chance.choice(ALL), chance.choice((1, 1, 1, 2, 3, 5, 20))
        match kind:
            case "kill" | "power":
                self.power_cut = kind == "power"
                world.waiting.append(Waiting(nth, self._kill, name))
            case "kill anywhere":
                self.power_cut = chance.random() < 0.5
                world.waiting.append(Waiting(int(chance.expovariate(1 / 80)) + 1, self._kill))
            case "kill in a write":
                self.power_cut = chance.random() < 0.5
                self.disk.kill_at_write = int(chance.expovariate(1 / 60)) + 1
            case "interrupt":
                world.waiting.append(Waiting(int(chance.expovariate(1 / 60)) + 1, self._interrupt))
            case "full":
                self.disk.writes_left = int(chance.expovariate(1 / 60)) + 1
                self.disk.full = chance.choice((apsw.FullError, apsw.IOError))
            case "full at a point":
                at = chance.choice(
                    [point for point in ALL if point.startswith("checkpoint.") and "durable" not in point]
                )
                world.waiting.append(Waiting(1, self._no_room, at))
            case "full at a copy":
                self.disk.copies_left = chance.choice((1, 2, 3, 4, 6, 9))
            case "lose":
                world.waiting.append(Waiting(int(chance.expovariate(1 / 60)) + 1, self._lose_worker))
            case _:
                pass
        world.say(f"session: {kind}, {name}:{nth}")

    def next_place(self) -> Path:
        return self._place / f"w{self._copies}"

    def freeze(self, where: str) -> None:
        """From here on nothing that the core does counts."""
        self._copies += 1
        self.world.dead = True
        self.fate = None if where == self.fate else self.fate
        self.world.struck[f"{'power' if self.power_cut else 'kill'} {where}"] += 1
        self.world.say(f"{'the power is cut' if self.power_cut else 'killed'} at {where}")
        if self.power_cut:
            self.disk.forget_exports(self.oracle.files)
        self.outside = set(self.oracle.files.iterdir())
        self.disk.survive(self.oracle.workspace, self.next_place(), power_cut=self.power_cut)

    def _kill(self, where: str) -> None:
        self.freeze(where)
        raise Killed

    def _interrupt(self, where: str) -> None:
        if self.world.in_background:
            # Ctrl-C is for the thread that a user waits for.
            self.world.waiting.append(Waiting(1, self._interrupt))
            return
        self.world.struck[f"interrupt {where}"] += 1
        self.world.say(f"Ctrl-C at {where}")
        raise KeyboardInterrupt

    def _no_room(self, where: str) -> None:
        self.world.struck["full"] += 1
        self.world.say(f"no room at {where}")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
