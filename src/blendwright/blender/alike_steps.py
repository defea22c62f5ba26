"""Steps in a row, of which alike ones run together: all are checked, then all applied, stage by stage, then all verified.

Whoever does all of one step before the next one goes through more code of Blender and Python than the processor keeps in its nearest
cache, for each one anew. Together run only calls of one tool that declares it (`Tool.together`) and that name different datablocks.

Responsible for: each step being answered as if it had run alone. What goes wrong with one of them, or takes long, ends the group in
front of it: this one and those behind it are taken back, by proof of the hash, and each has its own turn.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import monotonic
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.step import Stepper, StepRun, may_wait
from blendwright.tool_api.mentions import Role
from blendwright.wire.methods import StepAnswer, StepRequest

NEVER = float("inf")
# So many seconds those have to come to their end that are left of a group when its time is over; if it is not enough, fewer are left.
TO_THE_END = 0.25


def begin_all(stepper: Stepper, requests: Sequence[StepRequest], ends: float = NEVER) -> Sequence[StepAnswer | StepRun]:
    """What `Stepper.begin` gives of each, up to a failure or to the moment at which they are to end; of the first in any case."""
    begun: list[StepAnswer | StepRun] = []
    while len(begun) < len(requests):
        group = _alike(stepper, requests[len(begun) :])
        begun += _run_together(group, ends) or [stepper.begin(requests[len(begun)])]
        last = begun[-1]
        if monotonic() > ends or not (isinstance(last, StepRun) or last["ok"]):
            break
    return begun


def _alike(stepper: Stepper, requests: Sequence[StepRequest]) -> list[StepRun]:
    """Those in front that can run together; none where the first one is alone."""
    tool = stepper.tools[requests[0]["tool"]]
    if not tool.together:
        return []
    of_tool = [*takewhile(lambda request: request["tool"] == tool.name, requests)]
    runs: list[StepRun] = []
    used, made = set[tuple[str, str]](), set[tuple[str, str]]()
    for request in of_tool if len(of_tool) > 1 else ():
        args: Any = tool.args_model.model_validate(request["args"])
        if not may_wait(tool, args, request):
            break
        mentions = [(one.role is Role.USES, (one.kind, one.name)) for one in tool.mentions_for(args)]
        own = {name for is_used, name in mentions if not is_used}
        others = {name for is_used, name in mentions if is_used}
        if not (made.isdisjoint(own) and made.isdisjoint(others) and used.isdisjoint(own)):
            break
        made |= own
        used |= others
        runs.append(stepper.prepared(tool, args, request))
    return runs


def _run_together(runs: list[StepRun], ends: float) -> list[StepRun]:
    """Run these steps; returns those that are kept and wait to be hashed, from the first one on. Of the others nothing is left."""
    group = _Group(runs, ends)
    group.each(lambda run: not run.check())
    while not all(run.applied for run in group.runs):
        group.each(_advance)
    group.each(lambda run: not run.verify() and run.waits)
    touched = set[fp.Key]()
    for run in group.runs:
        # None can be taken back by itself then, nor hashed: the core ends this worker, and sends them one by one to the next.
        if not touched.isdisjoint(run.touched()):
            raise RuntimeError(f"steps that run together touched the same: {sorted(touched & run.touched())[:3]}")
        touched |= run.touched()
    for run in group.runs:
        run.keep()
    return group.runs


class _Group:
    """Steps that are still together: it only gets smaller."""

    def __init__(self, runs: list[StepRun], ends: float) -> None:
        self.runs = runs
        self._ends = ends

    def each(self, phase: Callable[[StepRun], bool]) -> None:
        """A phase for each, up to the first one that it fails for, or after which the time is over; the others are taken back."""
        done = 0
        for run in self.runs:
            try:
                fine = phase(run)
            except Exception:  # a tool may raise anything; it is told when the step has its own turn
                fine = False
            done += fine
            if not fine or monotonic() > self._ends:
                break
        for run in reversed(self.runs[done:]):
            run.take_back()
        self.runs = self.runs[:done]
        if monotonic() > self._ends:
            self._ends = monotonic() + TO_THE_END


def _advance(run: StepRun) -> bool:
    run.advance()
    return True
