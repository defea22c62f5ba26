"""Foreign code, as a core of the simulation is asked for it: in calls and in plans, safe and trusted, sound and hostile."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from blendwright.engine.options import RunOptions
from blendwright.util.cancel import CancelToken
from blendwright.values.report import RunReport
from blendwright.workspace.open_scene import OpenScene
from simulation import toy_code
from simulation.oracle import Oracle
from simulation.toy_code import CHANCE, NEVER_KEPT, SOUND, WRITES
from simulation.toy_scene import CODE, CREATE
from simulation.world import Waiting, World

# What code has the time for: with the second, whoever answers late is too late.
MILLISECONDS = (None, 5000)


class CodeDeeds:
    """A part of `Deeds`."""

    world: World
    chance: random.Random
    oracle: Oracle
    files: Path
    requests: int
    plans: dict[str, dict[str, Any]]
    run: Callable[[OpenScene, str, RunOptions], RunReport]
    request: Callable[[int], str]

    def any_code(self) -> Callable[[OpenScene], None]:
        deeds = (self.code_call, self.code_call, self.code_plan, self.code_plan, self.code_writes, self.trusted_code)
        return self.chance.choice(deeds)

    def code_call(self, scene: OpenScene) -> None:
        """Code by itself, whose result need not be the same again."""
        deed = self.chance.choice((*SOUND, *SOUND, *NEVER_KEPT))
        self._call_code(scene, self._code(deed))

    def code_writes(self, scene: OpenScene) -> None:
        """Code that leaves a file outside as well."""
        path = self.files / f"code {self.chance.getrandbits(32):x}.stl"
        if self._call_code(scene, {**self._code(WRITES), "files": {"out": [str(path)]}}):
            self.oracle.written.add(path)

    def trusted_code(self, scene: OpenScene) -> None:
        """Code in the process that holds the scene, which a person is asked about."""
        self._call_code(scene, {**self._code(self.chance.choice(SOUND)), "mode": "trusted"})

    def code_plan(self, scene: OpenScene) -> None:
        """Code between other operations: it is run twice, and counts only where it does the same."""
        self.requests += 1
        request = self.request(self.requests)
        deed = self.chance.choice((*SOUND, *SOUND, *NEVER_KEPT))
        listed = [
            _operation("op000", CREATE, {"name": f"{request} 0"}),
            _operation("op001", CODE, self._code(deed), "op000"),
            _operation("op002", CREATE, {"name": f"{request} 2"}, "op001"),
        ]
        boundary = self.chance.choice(("plan", "operation"))
        self.plans[request] = {"operations": listed, "boundary": boundary}
        report = self.run(scene, request, RunOptions())
        kept = report.status != "refused" and report.operations[1].status == "succeeded"
        self._count(listed[1]["args"], kept=kept)
        if not self.world.dead and report.status != "refused" and deed in (CHANCE, *NEVER_KEPT):
            assert report.operations[1].status != "succeeded", f"code that {deed} was kept in a plan"

    def _code(self, deed: str) -> dict[str, Any]:
        args: dict[str, Any] = {"code": toy_code.code(deed, f"made {self.chance.getrandbits(32):x}")}
        milliseconds = self.chance.choice(MILLISECONDS)
        return args if milliseconds is None else {**args, "timeout_ms": milliseconds}

    def _count(self, args: dict[str, Any], *, kept: bool) -> None:
        mode, deed = args.get("mode", "safe"), toy_code.meaning(args)[0]
        self.world.struck[f"code {mode} {deed} {'kept' if kept else 'not kept'}"] += 1

    def _call_code(self, scene: OpenScene, args: dict[str, Any]) -> bool:
        """One call; what is not done leaves HEAD where it is, and what is done is its next commit."""
        before = scene.journal.head
        cancel = CancelToken() if self.chance.random() < 0.2 else None
        if cancel is not None:
            self.world.waiting.append(Waiting(self.chance.randrange(1, 10), lambda _: cancel.cancel()))
        outcome = scene.outcome(CODE, args, RunOptions(cancel=cancel))
        after = scene.journal.head
        self.world.say(f"{toy_code.tool_call(args)}: {outcome.ok} {outcome.fault}")
        self._count(args, kept=outcome.ok)
        if self.world.dead or before is None:
            return False
        assert after is not None
        if not outcome.ok:
            assert after.number == before.number, f"{toy_code.tool_call(args)} is reported as not done, and HEAD moved"
            return False
        assert after.parent == before.number and after.tool == CODE, f"{toy_code.tool_call(args)} was not committed"
        assert outcome.fingerprint_after == after.hash_after, "another scene is told than was committed"
        self.oracle.since.append(after.number)
        return True


def _operation(id: str, tool: str, args: dict[str, Any], *waits_for: str) -> dict[str, Any]:
    return {
        "operation_id": id, "tool_name": tool, "args": args, "depends_on": list(waits_for), "safety_level": "safe_write",
    }  # fmt: skip
