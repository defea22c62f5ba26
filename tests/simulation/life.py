"""A core's life in a simulated world: it does what the seed says, things happen to it, it dies and comes back, and the oracle looks.

`live(seed)` raises AssertionError, with the seed's trace and the command that plays it again, where something did not hold.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.bridge.spawn import WorkerSettings
from blendwright.engine.options import RunOptions
from blendwright.engine.scene.host import SceneHost
from blendwright.engine.scene.problems import find_problems, return_to
from blendwright.policy.policy import Levels, LimitsAsked, Policy, Rules, Verdict
from blendwright.policy.session_contract import Proposal
from blendwright.values.approval import Approver
from blendwright.values.errors import (
    BlendwrightError,
    EnvironmentUnfit,
    JournalError,
    RebuildFailed,
    Refusal,
    WorkerError,
)
from blendwright.workspace import open_scene
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import open as open_workspace
from blendwright.workspace.reading import repair_journal
from simulation.background import BackgroundThread
from simulation.deeds import Deeds
from simulation.disk import Disk
from simulation.misfortunes import Misfortunes
from simulation.oracle import Oracle
from simulation.person import Person
from simulation.pool import SimulatedSource
from simulation.toy_scene import ToyScene
from simulation.world import Killed, Rates, World

OPEN_TO_ALL = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW), trusted_python="ask"))
ASKING = Policy(policy=Rules(levels=Levels(destructive=Verdict.ASK), trusted_python="ask"))
# How often a Blender follows a process, and how often a person is asked there about what is destructive.
FOLLOWED, ASKED = 0.4, 0.3
# Where the system has memory that looks like a disk, the simulation is quicker.
MEMORY = Path("/dev/shm")
# Processes in one life; more where death has not come yet at the point that the seed is there for.
LIVES, MOST_LIVES = (2, 3), 8
DEEDS = (1, 2, 3, 5)
# How often a process that lives long enough runs foreign code in the end.
WITH_CODE = 0.8
# How often the files are looked at while a core lives; after its end they always are.
LOOKS = 0.3
# How often a checkpoint goes bad between two processes.
DAMAGES = 0.15
# What a core may give up over, since the worker was asked and could not.
NO_BLENDER = ("Blender does not start", "the worker raised", "the worker did not answer in time")


@dataclass(frozen=True, slots=True)
class Lived:
    """What became of a seed."""

    trace: tuple[str, ...]
    struck: dict[str, int]
    reached: frozenset[str]


def live(seed: int) -> Lived:
    """One seed, from an empty directory to its last look."""
    world = World(seed)
    root = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    place = Path(tempfile.mkdtemp(prefix="simulation-", dir=root))
    try:
        with world.installed(BackgroundThread):
            disk = Disk(world)
            with disk.installed():
                Life(world, disk, place).live()
    except BaseException as error:
        told = "\n  ".join(world.trace[-60:])
        raise AssertionError(
            f"seed {seed}: {type(error).__name__}: {error}\nWhat happened:\n  {told}\n"
            f"Replay it: PYTHONPATH=tests python -m simulation {seed}"
        ) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return Lived(tuple(world.trace), dict(world.struck), frozenset(world.reached))


class Life:
    def __init__(self, world: World, disk: Disk, place: Path) -> None:
        self.world = world
        self.disk = disk
        self.place = place
        self.chance = world.chance
        files = place / "files"
        files.mkdir()
        self.oracle = Oracle(place / "w0", files)
        self.source = SimulatedSource(world)
        self.deeds = Deeds(world, self.oracle, self.source)
        self.misfortunes = Misfortunes(world, disk, self.oracle, place, self.deeds.lose_worker)
        self.scene: OpenScene | None = None

    def live(self) -> None:
        number, lives = 0, self.chance.choice(LIVES)
        while number < lives or (self.misfortunes.fate is not None and number < MOST_LIVES):
            self.misfortunes.calm()
            self.misfortunes.prepare(number)
            self._mortal(self._session)
            self.disk.writes_left = self.disk.kill_at_write = self.disk.copies_left = None
            self.oracle.check()
            if self.world.lied:
                self._repair()
            elif self.chance.random() < DAMAGES:
                self._damage()
            number += 1
        self._last_look()

    # ------------------------------------------------------------------ one process

    def _mortal(self, process: Callable[[], None]) -> None:
        """What one process does, until its end or its death; then its files are what is left."""
        try:
            process()
        except Killed:
            pass
        finally:
            self._abandon()
        if self.world.dead:
            self.oracle.workspace = self.misfortunes.next_place()
            self.disk.settled(self.oracle.workspace)
            for file in set(self.oracle.files.iterdir()) - self.misfortunes.outside:
                file.unlink()

    def _session(self) -> None:
        try:
            self._open()
            going = True
            for number in range(self.chance.choice(DEEDS)):
                going = going and self._act(directed=number < 2)
            if going and self.chance.random() < WITH_CODE:
                self._act(directed=False, code=True)
            if not self.world.dead and self.scene is not None:
                self.world.begin_action("close")
                self.scene.close()
        except KeyboardInterrupt:
            self.world.say("interrupted")
        except (EnvironmentUnfit, JournalError) as error:
            self._excuse(error)

    def _open(self) -> None:
        open_scene.WORTH_SAVING_MS = self.chance.choice((0.0, 300.0))
        self.world.begin_action("open")
        self.scene = self._opened(self.oracle.workspace)
        left = [file.name for file in (self.oracle.workspace / "checkpoints").glob("*.part")]
        assert self.world.dead or not left, f"{left} were left by somebody who died"
        self._settled()
        for intent in self.scene.journal.recovery.indeterminate():
            self.scene.journal.recovery.resolve_intent(intent.id, "somebody looked")

    def _opened(self, workspace: Path) -> OpenScene:
        fate = self.misfortunes.fate or ""
        self.deeds.asking = fate.startswith(("approval.", "answer.")) or self.chance.random() < ASKED
        followed = fate.startswith("background.") or self.chance.random() < FOLLOWED
        return open_workspace(
            workspace,
            blender=self.source,
            roots=[self.oracle.files],
            policy=ASKING if self.deeds.asking else OPEN_TO_ALL,
            approver=Approver(Person(self.world, self.oracle)),
            proposal=Proposal(limits=LimitsAsked(calls_at_once=self.chance.choice((None, None, 1, 3)))),
            spare=followed,
        )

    def _act(self, directed: bool, *, code: bool = False) -> bool:
        """One thing that a core is asked for; says whether it can go on. `directed`: what leads to where death waits. `code`: some code."""
        scene, world, fate = self.scene, self.world, self.misfortunes.fate
        assert scene is not None
        act = self.deeds.leading_to(fate) if directed and fate is not None else self.deeds.any()
        act = self.deeds.any_code() if code else act
        try:
            world.begin_action(act.__name__)
            act(scene)
        except KeyboardInterrupt:
            world.say("interrupted")
        except (Refusal, WorkerError, RebuildFailed) as error:
            # Not where it happened, which is another directory every time.
            message = str(error).replace(str(self.oracle.workspace.parent), "…")
            world.say(f"refused or lost: {type(error).__name__} {message}")
        except (EnvironmentUnfit, JournalError) as error:
            self._excuse(error)
            return False
        if world.dead:
            return False
        self._settled()
        return True

    def _settled(self) -> None:
        """Nothing is under way: what the files say, what the core says and what its worker holds is the same."""
        scene = self.scene
        assert scene is not None
        if self.world.dead:
            return
        # Reading all the files costs as much as what was done: mostly it is left to the next look.
        looks = self.chance.random() < LOOKS
        expected = self.oracle.check() if looks else None
        self.oracle.settle(scene.journal)
        assert scene.journal.recovery.open_boundary() is None, "a plan that is kept whole was left open"
        assert scene.journal.recovery.quarantine() is None or self.world.lied, "sound work is in quarantine"
        self._compare(scene, expected)

    def _compare(self, scene: OpenScene, expected: ToyScene | None) -> None:
        live = live_scene(scene)
        if live.ready and expected is not None:
            worker: Any = live.worker()
            found: ToyScene = worker.scene
            assert found.objects == expected.objects, "the worker holds another scene than HEAD says"
            assert live.head.known_hash == expected.hash

    def _excuse(self, error: BlendwrightError) -> None:
        """The core gave up. It may: where it is dead, where the disk refuses, and where no Blender can be had."""
        self.world.say(f"gave up: {error.message}")
        excused = self.world.dead or self.world.lied or self.world.struck["full"] > 0
        assert excused or any(words in error.message for words in NO_BLENDER), (
            f"nothing was wrong: {error.message} {error.cure}"
        )
        assert not error.details.get("quarantined") or self.world.lied, error.message

    def _abandon(self) -> None:
        """What is left of a process in this one: descriptors, and locks on files that nobody uses any more."""
        was_dead, self.world.dead = self.world.dead, True
        if self.scene is not None:
            with contextlib.suppress(Exception):
                self.scene.close()
        self.scene = None
        self.world.dead = was_dead

    def _last_look(self) -> None:
        """In a world where nothing happens any more, the workspace opens, its scene is HEAD's, and a plan can be run."""
        self.world.rates = Rates()
        self.misfortunes.calm()
        self._open()
        assert self.scene is not None
        try:
            self.scene.warm()
            self._settled()
            request = self.deeds.request(self.deeds.requests + 1)
            report = self.deeds.run(self.scene, request, RunOptions(), only_creates=True)
            assert report.status == "succeeded", report
            self._settled()
        finally:
            self._abandon()
        self.oracle.check()

    # ------------------------------------------------------------------ between two processes

    def _damage(self) -> None:
        """A checkpoint goes bad at rest: HEAD's scene is found without it, or the core says that it is not to be had. On a copy."""
        original, copy = self.oracle.workspace, self.place / "copy"
        files = sorted((original / "checkpoints").glob("*.blend"))
        if not files:
            return
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(original, copy)
        file = copy / "checkpoints" / self.chance.choice(files).name
        content = file.read_bytes()
        torn = content[: self.chance.randrange(len(content))]
        self.misfortunes.calm()
        rates, self.world.rates = self.world.rates, Rates()
        file.write_bytes(self.chance.choice((torn, bytes(len(content)), torn + content[len(torn) :].swapcase())))
        self.world.begin_action(f"{file.name} is damaged")
        try:
            with contextlib.closing(self._opened(copy)) as scene:
                scene.warm()
                file.write_bytes(content)
                self.oracle.workspace = copy
                self._compare(scene, self.oracle.check())
        except EnvironmentUnfit as error:
            assert error.cure and not error.details.get("quarantined"), "a damaged file is no reason for a quarantine"
            self.world.say(f"not to be had: {error.message}")
        finally:
            self.oracle.workspace, self.world.rates = original, rates

    def _repair(self) -> None:
        """A worker lied, and the workspace may be in quarantine. With an honest one the newest scene is there again."""
        rates, self.world.rates = self.world.rates, Rates()
        self.misfortunes.calm()
        if (self.misfortunes.fate or "").startswith(("repair.", "quarantine.")):
            self.misfortunes.wait_at_fate()
        self._mortal(self._return_to_head)
        self.oracle.check()
        self.misfortunes.calm()
        self._mortal(self._return_to_head)
        self.world.rates, self.world.lied = rates, False

    def _return_to_head(self) -> None:
        self.world.begin_action("repair")
        self.oracle.moving = True
        scratch = self.place / "repair"
        scratch.mkdir(exist_ok=True)
        with repair_journal(self.oracle.workspace) as journal:
            head = journal.head
            if journal.recovery.quarantine() is not None and head is not None:
                pool = self.source.open_pool(WorkerSettings(scratch))
                assert head.number in find_problems(journal).reachable, "the newest scene is not offered"
                boundary = journal.recovery.open_boundary()
                target = head.number if boundary is None else boundary.base
                return_to(journal, pool.take(), target)
            assert journal.recovery.quarantine() is None


def live_scene(scene: OpenScene) -> SceneHost:
    """What no caller sees, and the oracle compares with the files."""
    return scene._session.scene  # pyright: ignore[reportPrivateUsage]
