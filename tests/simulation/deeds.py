"""What a core of the simulation is asked for: plans, calls, moves through the history, files; all of it as the seed says."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from blendwright.engine.options import RunOptions
from blendwright.journal import approvals
from blendwright.journal.statistics import Statistics
from blendwright.util.cancel import CancelToken
from blendwright.values.approval import ApprovalAnswer
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary
from blendwright.values.report import OperationReport, RunReport
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import open as open_workspace
from simulation.code_deeds import CodeDeeds
from simulation.oracle import Oracle
from simulation.pool import SimulatedSource
from simulation.toy_scene import CREATE, DELETE, EXPORT, FIND, IMPORT, MOVE, ToyScene
from simulation.world import Waiting, World


class Deeds(CodeDeeds):
    """Everything is told to the oracle, as callers are told."""

    def __init__(self, world: World, oracle: Oracle, source: SimulatedSource) -> None:
        self.world = world
        self.chance = world.chance
        self.oracle = oracle
        self.files = oracle.files
        self.source = source
        self.requests = 0
        self.plans: dict[str, dict[str, Any]] = {}
        self.asking = False
        """Whether a person is asked about what is destructive, in this process."""
        (self.files / "in.blend").write_bytes(ToyScene().to_bytes())

    def any(self) -> Deed:
        """One of them, the usual ones more often."""
        weights: dict[Deed, float] = {
            self.plan: 8, self.again: 3, self.changed: 1, self.call: 1, self.import_: 3, self.export: 1, self.lose: 1, self.lose_midway: 3,
            self.interrupted: 2,
            self.failing_whole: 1, self.undo: 2, self.redo: 1, self.checkout: 1, self.adopt: 1, self.save: 1,
            self.collect: 0.5, self.intrude: 0.5, self.preview: 1, self.tag: 2, self.branch: 1, self.follow: 0.5,
            self.delete: 2 if self.asking else 0.3, self.answer: 2 if self.asking else 0.1,
            self.code_call: 1.5, self.code_plan: 1.5, self.code_writes: 1, self.trusted_code: 1.5 if self.asking else 0.2,
        }  # fmt: skip
        return self.chance.choices(list(weights), list(weights.values()))[0]

    def leading_to(self, point: str) -> Deed:
        """The one that brings a core to a named point."""
        longest = max((name for name in LEADS_THERE if point.startswith(name)), key=len, default=None)
        return self.plan if longest is None else LEADS_THERE[longest].__get__(self)

    def plan(self, scene: OpenScene) -> None:
        self.requests += 1
        cancel = CancelToken() if self.chance.random() < 0.2 else None
        timeout = self.chance.choice((None, None, None, 0.002, 20.0))
        if cancel is not None:
            self.world.waiting.append(Waiting(self.chance.randrange(1, 40), lambda _: cancel.cancel()))
        self.run(scene, self.request(self.requests), RunOptions(timeout=timeout, cancel=cancel))

    def request(self, number: int) -> str:
        return f"{self.world.seed}-{number}"

    def again(self, scene: OpenScene) -> None:
        if self.requests:
            self.run(scene, self.request(self.chance.randint(1, self.requests)), RunOptions())

    def changed(self, scene: OpenScene) -> None:
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

    def run(self, scene: OpenScene, request: str, options: RunOptions, *, only_creates: bool = False) -> RunReport:
        """The plan of this name: the same whenever it is asked for."""
        plan = self.plans.get(request) or _plan_of(request, self.files, only_creates=only_creates)
        self.plans[request] = plan
        self.world.say(f"run {request}: {len(plan['operations'])} operations, boundary {plan['boundary']}")
        told: list[str] = []

        def progress(report: OperationReport) -> None:
            if not self.world.dead:
                told.append(report.operation_id)
                self.oracle.tell(request, report)
                if self.asking and report.status == "succeeded" and report.operation_id in destructive:
                    self.oracle.asked.add((request, report.operation_id))

        destructive = {item["operation_id"] for item in plan["operations"] if item["tool_name"] == DELETE}
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
        numbers = [one.commit for one in done if one.commit is not None]
        assert numbers == sorted(numbers), f"{request} did not run in the order of its schedule: {numbers}"
        whole = report.boundary == "plan"
        if whole and any(not one.done for one in report.operations):
            assert not done, f"of {request}, kept whole or not at all, a part is reported as done"
        odd = [one for one in report.operations if one.fault is Fault.ROLLBACK_FAILED]
        assert not odd or self.world.lied, odd

    def call(self, scene: OpenScene) -> None:
        outcome = scene.outcome(FIND, {"name": "*"})
        self.world.say(f"call: {outcome.ok} {outcome.fault}")

    def import_(self, scene: OpenScene) -> None:
        outcome = scene.outcome(IMPORT, {"path": str(self.files / "in.blend")})
        self.world.say(f"import: {outcome.ok} {outcome.fault}")

    def export(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, EXPORT), "operation")

    def whole(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, MOVE), "plan")

    def failing_whole(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, CREATE, CREATE), "plan", fails=True)

    def failing(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, CREATE), "operation", fails=True)

    def delete(self, scene: OpenScene) -> None:
        self._listed(scene, (CREATE, CREATE, DELETE), "operation")

    def answer(self, scene: OpenScene) -> None:
        """Somebody answers, in another process, what was left for them; whatever waited for it is asked for again."""
        self.oracle.nobody_there = True
        try:
            self.delete(scene)
        finally:
            self.oracle.nobody_there = False
        for stored in scene.journal.approvals.listed():
            reply = self.chance.choice((ApprovalAnswer.APPROVED, ApprovalAnswer.APPROVED, ApprovalAnswer.DECLINED))
            if reply is ApprovalAnswer.APPROVED:
                self.oracle.approved.add(stored.request.id)
            approvals.answer(self.oracle.workspace, stored.request.id, reply, "somebody")
        self.run(scene, self.request(self.requests), RunOptions())

    def follow(self, scene: OpenScene) -> None:
        """So much is done that a Blender beside the session saves what it followed, and that is recorded."""
        for _ in range(3):
            self._listed(scene, (CREATE, CREATE, MOVE, CREATE, CREATE, CREATE), "operation")

    def preview(self, scene: OpenScene) -> None:
        """What a plan would do leads to the scene that the oracle finds, and the workspace stays as it is."""
        head = scene.journal.head
        before = None if head is None else (head.number, head.hash_after, _but_checkpoints(scene))
        name = f"previewed {self.chance.getrandbits(20)}"
        listed = [
            _operation("a", CREATE, {"name": name}),
            _operation("b", MOVE, {"object": name, "location": [1, 2, 3]}),
        ]
        found = scene.preview({"request_id": f"preview {name}", "operations": listed})
        after = scene.journal.head
        if self.world.dead or head is None:
            return
        assert after is not None
        assert before == (after.number, after.hash_after, _but_checkpoints(scene)), "a preview changed the workspace"
        self.world.say(f"preview: {found.report.status}")
        if found.ok:
            made = [(entry.kind, entry.name) for entry in found.differences.difference.created]
            assert made == [("objects", name)], f"the preview of {name} shows {made}"
            expected = ToyScene()
            expected.put(name, "[1.0, 2.0, 3.0]")
            assert found.report.scene_hash_after == expected.added_to(head.hash_after), "a preview of another scene"

    def tag(self, scene: OpenScene) -> None:
        """A tag is put, and put elsewhere."""
        name = self.chance.choice(("first", "second"))

        def put(number: int) -> None:
            self._tagged({**self.oracle.tags, name: number}, lambda: scene.journal.branches.set_tag(name, number))

        for commit in scene.journal.log(limit=2):
            put(commit.number)
        if name in self.oracle.tags and self.chance.random() < 0.3:
            others = {each: number for each, number in self.oracle.tags.items() if each != name}
            self._tagged(others, lambda: scene.journal.branches.delete_tag(name))

    def branch(self, scene: OpenScene) -> None:
        """A branch is begun where HEAD is, and another one where it was; or one is gone on with; or one is given up."""
        history, names = scene.history, {branch.name for branch in scene.journal.branches.listed()}
        name = self.chance.choice(("one", "two"))
        if name not in names:
            self._branched({*self.oracle.branches, name}, lambda: history.create_branch(name))
        elif self.chance.random() < 0.3 and scene.journal.branches.current() != name:
            self._branched(self.oracle.branches - {name}, lambda: history.delete_branch(name))
        if not self.world.dead:
            names = sorted(branch.name for branch in scene.journal.branches.listed())
            self._moved(lambda: history.switch(self.chance.choice(names)))

    def _branched(self, branches: set[str], act: Callable[[], object]) -> None:
        self.oracle.branching = branches
        act()
        if not self.world.dead:
            self.oracle.branches, self.oracle.branching = branches, None

    def _tagged(self, tags: dict[str, int], act: Callable[[], None]) -> None:
        if self.world.dead:
            return
        self.oracle.tagging = tags
        act()
        if not self.world.dead:
            self.oracle.tags, self.oracle.tagging = tags, None

    def _listed(self, scene: OpenScene, tools: tuple[str, ...], boundary: Boundary, *, fails: bool = False) -> None:
        """A plan of these tools; where it `fails`, the last of them finds its name taken."""
        self.requests += 1
        request = self.request(self.requests)
        names = [f"{request} {number}" for number in range(len(tools))]
        if fails:
            names[-1] = names[0]
        args: dict[str, Callable[[int], dict[str, Any]]] = {
            CREATE: lambda number: {"name": names[number]},
            MOVE: lambda number: {"object": names[0], "location": [number, 1, 0]},
            DELETE: lambda number: {"object": names[0]},
            EXPORT: lambda number: {"path": str(self.files / f"{request} op{number:03d}.stl")},
        }
        self.plans[request] = {
            "operations": [_operation(f"op{at:03d}", tool, args[tool](at)) for at, tool in enumerate(tools)],
            "boundary": boundary,
        }
        self.run(scene, request, RunOptions())

    def lose_midway(self, scene: OpenScene) -> None:
        """Workers die in the middle of a plan, just after a step was sent; its answer may have been on its way already."""
        for _ in range(2):
            nth = self.chance.randint(1, 5)
            self.world.waiting.append(Waiting(nth, self.lose_worker, "plan.sent"))
        self._listed(scene, (CREATE,) * 8, "operation")

    def interrupted(self, scene: OpenScene) -> None:
        """Ctrl-C in the middle of a plan, whose steps are on their way; then another plan, which begins with HEAD's scene."""

        def interrupt(where: str) -> None:
            self.world.struck[f"interrupt {where}"] += 1
            raise KeyboardInterrupt

        self.world.waiting.append(Waiting(self.chance.randint(1, 6), interrupt, "plan.sent"))
        try:
            self._listed(scene, (CREATE,) * 6, "operation")
        except KeyboardInterrupt:
            self.world.say("interrupted in a plan")
        self._listed(scene, (CREATE,), "operation")

    def lose(self, scene: OpenScene) -> None:
        """The worker dies between two plans, and what it held is built again."""
        self._listed(scene, (CREATE, CREATE), "operation")
        self.lose_worker("rest")
        scene.warm()

    def undo(self, scene: OpenScene) -> None:
        self._moved(lambda: scene.history.undo(self.chance.randint(1, 3)))

    def redo(self, scene: OpenScene) -> None:
        self._moved(scene.history.redo)

    def checkout(self, scene: OpenScene) -> None:
        head = scene.journal.head
        if head is not None:
            self._moved(lambda: scene.history.checkout(self.chance.randint(1, head.number)))

    def _moved(self, move: Any) -> None:
        self.oracle.moving = True
        moved = move()
        if not self.world.dead:
            if moved.branch is None or moved.origin != moved.commit.number:
                self.oracle.moves.append((moved.kind, moved.commit.number))
            self.world.say(f"{moved.kind} to {moved.commit.number}")

    def adopt(self, scene: OpenScene) -> None:
        edited = ToyScene()
        edited.put(f"edited {self.chance.getrandbits(40):x}", "by hand")
        file = self.files.parent / "edited.blend"
        file.write_bytes(edited.to_bytes())
        commit = scene.history.adopt(file)
        assert commit is None or commit.hash_after == edited.hash

    def save(self, scene: OpenScene) -> None:
        live: Any = scene
        live._session.scene.checkpoint()  # done at the end of a session; here at any time

    def lose_and_save(self, scene: OpenScene) -> None:
        self.lose(scene)
        self.save(scene)

    def collect(self, scene: OpenScene) -> None:
        if scene.journal.head is not None:
            for _ in range(2):
                self._listed(scene, (CREATE,), "operation")
                self.save(scene)
            scene.history.gc(redo_budget=self.chance.choice((0, 3, 5000)))

    def intrude(self, scene: OpenScene) -> None:
        """Somebody else opens the workspace, and is sent away."""
        try:
            open_workspace(self.oracle.workspace, blender=SimulatedSource(self.world), spare=False).close()
        except EnvironmentUnfit as error:
            assert "in use" in error.message, error.message
        else:
            raise AssertionError("two have the workspace open")

    def lose_worker(self, where: str) -> None:
        if self.source.pool is not None:
            self.world.struck[f"loss {where}"] += 1
            self.world.say(f"all workers die at {where}")
            for worker in self.source.pool.workers:
                worker.abandon()


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
            listed.append(_operation(id, MOVE, {"object": before, "location": [0, 0, number]}, *waits_for))
        elif kind < 0.82:
            listed.append(_operation(id, DELETE, {"object": before}))
        elif kind < 0.92:
            listed.append(_operation(id, FIND, {"name": "*"}))
        elif kind < 0.96:
            listed.append(_operation(id, IMPORT, {"path": str(files / "in.blend")}))
        else:
            listed.append(_operation(id, EXPORT, {"path": str(files / f"{request} {id}.stl")}))
    return {"operations": listed, "boundary": "plan" if not only_creates and chance.random() < 0.35 else "operation"}


Deed = Callable[[OpenScene], None]
# What has to be asked for, so that a core comes by a point: the longest beginning of its name counts.
LEADS_THERE: dict[str, Callable[[Deeds, OpenScene], None]] = {
    "gc.": Deeds.collect,
    "call.": Deeds.import_,
    "checkpoint.": Deeds.import_,
    "clean.": Deeds.import_,
    "files.": Deeds.export,
    "intent.": Deeds.export,
    "resolve.": Deeds.export,
    "plan.failed": Deeds.failing,
    "whole.": Deeds.whole,
    "boundary.": Deeds.whole,
    "recovery.": Deeds.whole,
    "rollback.": Deeds.failing_whole,
    "whole.before_rollback": Deeds.failing_whole,
    "whole.rolled_back": Deeds.failing_whole,
    "adopt.": Deeds.adopt,
    "move.": Deeds.undo,
    "head.": Deeds.undo,
    "save.": Deeds.lose_and_save,
    "checkpoint_row.": Deeds.lose_and_save,
    "rebuild.": Deeds.lose,
    "background.": Deeds.follow,
    "tag.": Deeds.tag,
    "branch.": Deeds.branch,
    "head.branch_left": Deeds.branch,
    "approval.": Deeds.delete,
    "answer.": Deeds.answer,
    "quarantine.": Deeds.lose,
    "repair.": Deeds.lose,
}


def _but_checkpoints(scene: OpenScene) -> Statistics:
    """What the journal holds: a checkpoint that a Blender beside the session has ready is recorded by a preview, which begins from it."""
    return replace(scene.journal.statistics(), checkpoints=0, checkpoint_bytes=0)
