"""A core's life in a simulated world: it does what the seed says, things happen to it, it dies and comes back, and the oracle looks.

`live(seed)` raises AssertionError, with the seed's trace, where something did not hold.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from blendwright.app import open_scene
from blendwright.app.open_scene import OpenScene
from blendwright.app.opening import open as open_workspace
from blendwright.app.read_workspace import repair_journal
from blendwright.bridge.spawn import WorkerSettings
from blendwright.policy.policy import Levels, Policy, Rules, Verdict
from blendwright.run.options import RunOptions
from blendwright.run.workspace_problems import find_problems, return_to
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import (
    BlendwrightError,
    EnvironmentUnfit,
    JournalError,
    RebuildFailed,
    Refusal,
    WorkerError,
)
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary
from blendwright.values.report import OperationReport, RunReport
from simulation.crash_names import ALL
from simulation.disk import Disk
from simulation.oracle import Oracle
from simulation.toy_scene import CREATE, DELETE, EXPORT, FIND, IMPORT, MOVE, ToyScene
from simulation.workers import SimulatedSource
from simulation.world import Killed, Rates, Waiting, World

OPEN_TO_ALL = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW)))
# Where the system has memory that looks like a disk, the simulation is quicker.
MEMORY = Path("/dev/shm")
# Processes in one life; more where death has not come yet at the point that the seed is there for.
LIVES, MOST_LIVES = (2, 3), 8
ACTS = (1, 2, 3, 5)
# How often the files are looked at while a core lives; after its end they always are.
LOOKS = 0.3
# How often a checkpoint goes bad between two processes.
DAMAGES = 0.15


# Points that only those come by who find what another process left when it died there.
LEGACIES = {"recovery.": "whole.before_keep", "resolve.": "call.delivered", "clean.": "checkpoint.before_rename"}


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
        with world.installed():
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
        self.files = place / "files"
        self.files.mkdir()
        (self.files / "in.blend").write_bytes(ToyScene().to_bytes())
        self.oracle = Oracle(place / "w0", self.files)
        self.source = SimulatedSource(world)
        self.requests = 0
        self.plans: dict[str, dict[str, Any]] = {}
        self.copies = 0
        self.scene: OpenScene | None = None
        self.power_cut = False
        # Every name has its turn, whatever the number of the seed.
        self.fate: str | None = ALL[world.seed % len(ALL)]
        disk.on_kill = self._freeze

    def live(self) -> None:
        number, lives = 0, self.chance.choice(LIVES)
        while number < lives or (self.fate is not None and number < MOST_LIVES):
            self._calm()
            self._prepare_misfortune(number)
            self._mortal(self._session)
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
            self.oracle.workspace = self._next_place()
            self.disk.settled(self.oracle.workspace)

    def _calm(self) -> None:
        """Nothing happens to whoever comes next, unless somebody sees to it."""
        self.world.dead = False
        self.disk.writes_left = self.disk.kill_at_write = None
        self.world.struck["full"] = 0
        self.world.waiting.clear()

    def _session(self) -> None:
        try:
            self._open()
            for number in range(self.chance.choice(ACTS)):
                if not self._act(directed=number < 2):
                    break
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
        self.scene = self._opened()
        left = [file.name for file in (self.oracle.workspace / "checkpoints").glob("*.part")]
        assert self.world.dead or not left, f"{left} were left by somebody who died"
        self._settled()
        for intent in self.scene.journal.indeterminate():
            self.scene.journal.resolve_intent(intent.id, "somebody looked")

    def _opened(self) -> OpenScene:
        return open_workspace(
            self.oracle.workspace, blender=self.source, roots=[self.files], policy=OPEN_TO_ALL, spare=False
        )

    def _act(self, directed: bool = False) -> bool:
        """One thing that a core is asked for; says whether it can go on. `directed`: what leads to where death waits."""
        scene, world = self.scene, self.world
        assert scene is not None
        acts = {self._plan: 8, self._export: 1, self._lose: 1, self._failing_whole: 1, self._again: 3, self._changed: 1, self._call: 1, self._import: 3, self._undo: 2, self._redo: 1,
                self._checkout: 1, self._adopt: 1, self._save: 1, self._collect: 0.5, self._intrude: 0.5}  # fmt: skip
        act = self.chance.choices(list(acts), list(acts.values()))[0]
        if directed and self.fate is not None:
            leads_there = {"gc.": self._collect, "call.": self._import, "files.": self._export, "intent.": self._export,
                           "resolve.": self._export, "whole.": self._whole, "rollback.": self._failing_whole,
                           "recovery.": self._whole, "boundary.": self._whole, "adopt.": self._adopt, "move.": self._undo,
                           "head.": self._undo, "save.": self._lose_and_save, "checkpoint_row.": self._lose_and_save, "checkpoint": self._import, "plan.failed": self._failing,
                           "clean.": self._import, "quarantine.": self._lose, "repair.": self._lose, "rebuild.": self._lose,
                           "whole.before_rollback": self._failing_whole, "whole.rolled_back": self._failing_whole}  # fmt: skip
            longest = max((name for name in leads_there if self.fate.startswith(name)), key=len, default=None)
            act = self._plan if longest is None else leads_there[longest]
        try:
            world.begin_action(act.__name__.strip("_"))
            act(scene)
        except KeyboardInterrupt:
            world.say("interrupted")
            self.oracle.moving = self.oracle.moving or act in (self._undo, self._redo, self._checkout)
        except (Refusal, WorkerError, RebuildFailed) as error:
            world.say(f"refused or lost: {type(error).__name__} {error}")
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
        assert scene.journal.open_boundary() is None, "a plan that is kept whole was left open"
        assert scene.journal.quarantined() is None or self.world.lied, "sound work is in quarantine"
        self._compare(scene, expected)

    def _compare(self, scene: OpenScene, expected: ToyScene | None) -> None:
        live = scene._session.scene  # pyright: ignore[reportPrivateUsage] - the oracle looks where no caller can
        if live.ready and expected is not None:
            worker: Any = live.worker()
            if worker.alive:
                found: ToyScene = worker.scene
                assert found.objects == expected.objects, "the worker holds another scene than HEAD says"
                assert live.known_hash == expected.hash

    def _excuse(self, error: BlendwrightError) -> None:
        """The core gave up. It may: where it is dead, where the disk refuses, and where no Blender starts."""
        self.world.say(f"gave up: {error.message}")
        full = self.world.struck["full"] > 0
        no_blender = any(
            words in error.message for words in ("Blender does not start", "the worker raised", "it did not end")
        )
        assert self.world.dead or full or no_blender or self.world.lied, (
            f"nothing was wrong: {error.message} {error.cure}"
        )
        assert not error.details.get("quarantined") or self.world.lied, error.message

    # ------------------------------------------------------------------ misfortune

    def _prepare_misfortune(self, number: int) -> None:
        chance, world = self.chance, self.world
        if self.fate is not None and (number or self.fate.startswith(("baseline.", "create."))):
            # The first process of a life leaves something behind; then death waits at the point that the seed has come for.
            self.power_cut = chance.random() < 0.4
            world.waiting.append(Waiting(1, self._kill, self.fate))
            world.say(f"session: death waits at {self.fate}")
            if self.fate.startswith(("quarantine.", "repair.")):
                world.rates.lies = 1.0
            return
        legacy = next((point for name, point in LEGACIES.items() if (self.fate or "").startswith(name)), None)
        if legacy is not None:
            self.power_cut = False
            world.waiting.append(Waiting(1, self._kill, legacy))
            world.say(f"session: to die at {legacy}")
            return
        kind = chance.choices(
            (
                "kill",
                "kill anywhere",
                "kill in a write",
                "power",
                "interrupt",
                "full",
                "full at a point",
                "lose",
                "nothing",
            ),
            (6, 3, 2, 5, 2, 2, 1, 2, 3),
        )[0]
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
            case "lose":
                world.waiting.append(Waiting(int(chance.expovariate(1 / 60)) + 1, self._lose_worker))
            case _:
                pass
        world.say(f"session: {kind}, {name}:{nth}")

    def _next_place(self) -> Path:
        return self.place / f"w{self.copies}"

    def _freeze(self, where: str) -> None:
        """From here on nothing that the core does counts."""
        self.copies += 1
        self.world.dead = True
        self.fate = None if where == self.fate else self.fate
        self.world.struck[f"{'power' if self.power_cut else 'kill'} {where}"] += 1
        self.world.say(f"{'the power is cut' if self.power_cut else 'killed'} at {where}")
        self.disk.survive(self.oracle.workspace, self._next_place(), power_cut=self.power_cut)

    def _kill(self, where: str) -> None:
        self._freeze(where)
        raise Killed

    def _interrupt(self, where: str) -> None:
        self.world.struck[f"interrupt {where}"] += 1
        self.world.say(f"Ctrl-C at {where}")
        raise KeyboardInterrupt

    def _no_room(self, where: str) -> None:
        self.world.struck["full"] += 1
        self.world.say(f"no room at {where}")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _lose_worker(self, where: str) -> None:
        if self.source.pool is not None:
            self.world.struck[f"loss {where}"] += 1
            self.world.say(f"all workers die at {where}")
            for worker in self.source.pool.workers:
                worker.abandon()

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
        self._calm()
        self._open()
        assert self.scene is not None
        try:
            self.scene.warm()
            self._settled()
            self.requests += 1
            report = self._run(self.scene, self._request(self.requests), RunOptions(), only_creates=True)
            assert report.status == "succeeded", report
            self._settled()
        finally:
            self._abandon()
        self.oracle.check()

    def _damage(self) -> None:
        """A checkpoint goes bad at rest: HEAD's scene is found without it, or the core says that it is not to be had; then it is mended."""
        files = sorted((self.oracle.workspace / "checkpoints").glob("*.blend"))
        if not files:
            return
        rates, self.world.rates = self.world.rates, Rates()
        file = self.chance.choice(files)
        content = file.read_bytes()
        torn = content[: self.chance.randrange(len(content))]
        file.write_bytes(self.chance.choice((torn, bytes(len(content)), torn + content[len(torn) :].swapcase())))
        self.world.say(f"{file.name} is damaged")
        self._calm()
        try:
            self.oracle.workspace, looked = self._copy(), self.oracle.workspace
            with contextlib.closing(self._opened()) as scene:
                scene.warm()
                found: Any = scene._session.scene.worker()  # pyright: ignore[reportPrivateUsage] - as in `_compare`
                file.write_bytes(content)
                self.oracle.workspace = looked
                expected = self.oracle.check()
                assert expected is not None and found.scene.objects == expected.objects, (
                    "a damaged checkpoint was opened"
                )
        except EnvironmentUnfit as error:
            assert error.cure and not error.details.get("quarantined"), "a damaged file is no reason for a quarantine"
            self.world.say(f"not to be had: {error.message}")
            self.oracle.workspace = looked
        finally:
            file.write_bytes(content)
            self.world.rates = rates

    def _copy(self) -> Path:
        """What is found out on a copy leaves no trace."""
        copy = self.place / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.oracle.workspace, copy)
        return copy

    def _repair(self) -> None:
        """A worker lied, and the workspace may be in quarantine. With an honest one the newest scene is there again."""
        rates, self.world.rates = self.world.rates, Rates()
        self._calm()
        if self.fate is not None and self.fate.startswith(("repair.", "quarantine.")):
            self.world.waiting.append(Waiting(1, self._kill, self.fate))
        self._mortal(self._return_to_head)
        self.oracle.check()
        self._calm()
        self._mortal(self._return_to_head)
        self.world.rates, self.world.lied = rates, False

    def _return_to_head(self) -> None:
        self.world.begin_action("repair")
        self.oracle.moving = True
        scratch = self.place / "repair"
        scratch.mkdir(exist_ok=True)
        with repair_journal(self.oracle.workspace) as journal:
            head = journal.head
            if journal.quarantined() is not None and head is not None:
                pool = self.source.open_pool(WorkerSettings(scratch))
                assert head.number in find_problems(journal).reachable, "the newest scene is not offered"
                boundary = journal.open_boundary()
                target = head.number if boundary is None else boundary.base
                return_to(journal, pool.take(), target)
            assert journal.quarantined() is None

    # ------------------------------------------------------------------ what a core is asked for

    def _plan(self, scene: OpenScene) -> None:
        self.requests += 1
        cancel = CancelToken() if self.chance.random() < 0.2 else None
        timeout = self.chance.choice((None, None, None, 0.002, 20.0))
        if cancel is not None:
            self.world.waiting.append(Waiting(self.chance.randrange(1, 40), lambda _: cancel.cancel()))
        self._run(scene, self._request(self.requests), RunOptions(timeout=timeout, cancel=cancel))

    def _request(self, number: int) -> str:
        return f"{self.world.seed}-{number}"

    def _again(self, scene: OpenScene) -> None:
        if self.requests:
            self._run(scene, self._request(self.chance.randint(1, self.requests)), RunOptions())

    def _changed(self, scene: OpenScene) -> None:
        """The ids of what was done, with other arguments: nothing of it may be done."""
        done = sorted(self.oracle.acknowledged)
        if done:
            request, id = self.chance.choice(done)
            number = self.oracle.acknowledged[request, id][0]
            there = number in self.oracle.line()
            item = _operation(id, CREATE, {"name": f"other {self.chance.getrandbits(20)}"})
            report = scene.run({"request_id": request, "operations": [item]})
            if there and report.status != "refused":
                assert report.operations[0].fault is not None, f"{request} {id} was done again with other arguments"

    def _run(self, scene: OpenScene, request: str, options: RunOptions, *, only_creates: bool = False) -> RunReport:
        """The plan of this name: the same whenever it is asked for."""
        plan = self.plans.get(request) or _plan_of(request, self.files, only_creates=only_creates)
        self.plans[request] = plan
        self.world.say(f"run {request}: {len(plan['operations'])} operations, boundary {plan['boundary']}")
        told: list[str] = []

        def progress(report: OperationReport) -> None:
            if not self.world.dead:
                told.append(report.operation_id)
                self.oracle.tell(request, report)

        for item in plan["operations"]:
            self.oracle.not_done.discard((request, item["operation_id"]))
        document = {"request_id": request, "operations": plan["operations"]}
        options = RunOptions(timeout=options.timeout, cancel=options.cancel, progress=progress)
        report = scene.run(document, options, boundary=plan["boundary"])
        if not self.world.dead and report.status != "refused":
            self._judge(request, report, told)
        self.world.say(f"{request} {report.status}: {' '.join(one.status for one in report.operations[:12])}")
        return report

    def _judge(self, request: str, report: RunReport, told: list[str]) -> None:
        done = [one for one in report.operations if one.status == "succeeded" and one.commit is not None]
        missing = [one.operation_id for one in done if (request, one.operation_id) not in self.oracle.acknowledged]
        assert not missing, f"{missing} of {request} are reported as done, and nobody was told so before"
        assert len(told) == len(set(told)), f"an operation of {request} was told twice: {told}"
        whole = report.boundary == "plan"
        if whole and any(not one.done for one in report.operations):
            assert not done, f"of {request}, kept whole or not at all, a part is reported as done"
        odd = [one for one in report.operations if one.fault is Fault.ROLLBACK_FAILED]
        assert not odd or self.world.lied, odd

    def _call(self, scene: OpenScene) -> None:
        outcome = scene.outcome(FIND, {"name": "*"})
        self.world.say(f"call: {outcome.ok} {outcome.fault}")

    def _import(self, scene: OpenScene) -> None:
        outcome = scene.outcome(IMPORT, {"path": str(self.files / "in.blend")})
        self.world.say(f"import: {outcome.ok} {outcome.fault}")

    def _export(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, EXPORT), "operation")

    def _whole(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, MOVE), "plan")

    def _failing_whole(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, CREATE, CREATE), "plan", fails=True)

    def _failing(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, CREATE), "operation", fails=True)

    def _listed(self, scene: OpenScene, tools: tuple[str, ...], boundary: Boundary, *, fails: bool = False) -> None:
        """A plan of these tools; where it `fails`, the last of them finds its name taken."""
        self.requests += 1
        request = self._request(self.requests)
        names = [f"{request} {number}" for number in range(len(tools))]
        if fails:
            names[-1] = names[0]
        args: dict[str, Callable[[int], dict[str, Any]]] = {
            CREATE: lambda number: {"name": names[number]},
            MOVE: lambda number: {"name": names[0], "location": [number, 1, 0]},
            EXPORT: lambda number: {"path": str(self.files / f"{request} op{number:03d}.stl")},
        }
        self.plans[request] = {
            "operations": [_operation(f"op{at:03d}", tool, args[tool](at)) for at, tool in enumerate(tools)],
            "boundary": boundary,
        }
        self._run(scene, request, RunOptions())

    def _lose(self, scene: OpenScene) -> None:
        """The worker dies between two plans, and what it held is built again."""
        self._listed(scene, (CREATE, CREATE), "operation")
        self._lose_worker("rest")
        scene.warm()

    def _undo(self, scene: OpenScene) -> None:
        self._moved(lambda: scene.history.undo(self.chance.randint(1, 3)))

    def _redo(self, scene: OpenScene) -> None:
        self._moved(scene.history.redo)

    def _checkout(self, scene: OpenScene) -> None:
        head = scene.journal.head
        if head is not None:
            self._moved(lambda: scene.history.checkout(self.chance.randint(1, head.number)))

    def _moved(self, move: Any) -> None:
        self.oracle.moving = True
        moved = move()
        if not self.world.dead:
            self.oracle.moves.append((moved.kind, moved.commit.number))
            self.world.say(f"{moved.kind} to {moved.commit.number}")

    def _adopt(self, scene: OpenScene) -> None:
        edited = ToyScene()
        edited.put(f"edited {self.chance.getrandbits(40):x}", "by hand")
        file = self.place / "edited.blend"
        file.write_bytes(edited.to_bytes())
        commit = scene.history.adopt(file)
        assert commit is None or commit.hash_after == edited.hash

    def _save(self, scene: OpenScene) -> None:
        scene._session.scene.checkpoint()  # pyright: ignore[reportPrivateUsage] - done at the end of a session, here at any time

    def _lose_and_save(self, scene: OpenScene) -> None:
        self._lose(scene)
        self._save(scene)

    def _collect(self, scene: OpenScene) -> None:
        if scene.journal.head is not None:
            for _ in range(2):
                self._listed(scene, (CREATE,), "operation")
                self._save(scene)
            scene.history.gc(redo_budget=self.chance.choice((0, 3, 5000)))

    def _intrude(self, scene: OpenScene) -> None:
        """Somebody else opens the workspace, and is sent away."""
        try:
            open_workspace(self.oracle.workspace, blender=SimulatedSource(self.world), spare=False).close()
        except EnvironmentUnfit as error:
            assert "in use" in error.message, error.message
        else:
            raise AssertionError("two have the workspace open")


def _operation(id: str, tool: str, args: dict[str, Any], *waits_for: str) -> dict[str, Any]:
    level = {FIND: "read_only", DELETE: "destructive"}.get(tool, "safe_write")
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": list(waits_for), "safety_level": level}


def _plan_of(request: str, files: Path, *, only_creates: bool) -> dict[str, Any]:
    chance = random.Random(request)
    count = chance.choice((1, 2, 3, 5, 8, 8, 70, 150)) if chance.random() < 0.3 else chance.choice((1, 2, 4))
    listed: list[dict[str, Any]] = []
    for number in range(count):
        id, name = f"op{number:03d}", f"{request} {number}"
        before = f"{request} {chance.randrange(number)}" if number else ""
        kind = 0.0 if only_creates else chance.random()
        if kind < 0.55 or not number:
            listed.append(_operation(id, CREATE, {"name": name, "location": [number, 0, 0]}))
        elif kind < 0.75:
            waits_for = [f"op{chance.randrange(number):03d}"] if chance.random() < 0.3 else []
            listed.append(_operation(id, MOVE, {"name": before, "location": [0, 0, number]}, *waits_for))
        elif kind < 0.82:
            listed.append(_operation(id, DELETE, {"name": before}))
        elif kind < 0.92:
            listed.append(_operation(id, FIND, {"name": "*"}))
        elif kind < 0.96:
            listed.append(_operation(id, IMPORT, {"path": str(files / "in.blend")}))
        else:
            listed.append(_operation(id, EXPORT, {"path": str(files / f"{request} {id}.stl")}))
    return {"operations": listed, "boundary": "plan" if not only_creates and chance.random() < 0.35 else "operation"}
