"""kill -9 of core, worker and both at every named point of the run layer: nothing acknowledged is lost, nothing is applied twice.

One workspace lives through all of it. Whoever opens it next rebuilds its scene, comparing every hash, plays the story that was
broken off to its end, and is killed in the next one: each must end in the scene of a story that nobody disturbed.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from crash_evidence import assert_holds, ended, facts, hashes
from crash_server import Ask, Case, Whom, server, told_of
from crash_story import FAILING

import blendwright

SOURCE = Path(blendwright.__file__).parent
REACHED = "crash_points.reach"
# Their points have tests of their own.
ELSEWHERE = ("journal", "batch", "fleet", "datasets")


def named_points() -> list[str]:
    """Return every point above the journal, read from the source. A fork changes no existing workspace (history/test_forking.py)."""
    found: list[str] = []
    for path in sorted(path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ELSEWHERE):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if REACHED in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == REACHED:
                assert isinstance(node.args[0], ast.Constant)
                found.append(str(node.args[0].value))
    return [name for name in found if not name.startswith("fork.")]


POINTS = named_points()
# Reached many times in a story: somewhere in the middle, besides the first.
LATER = (
    "plan.sent:70",
    "plan.answered:100",
    "plan.before_commit:2",
    "plan.committed:3",
    "rebuild.redone:2",
    "save.written:2",
)
ALL = [*(f"{point}:1" for point in POINTS), *LATER]
# Reached only where a plan was taken back, of whose scene something is to be redone.
TAKEN_BACK = ("plan.failed", "whole.before_rollback", "whole.rolled_back", "rebuild.redone")

BY_DEATH: tuple[Whom, ...] = ("core", "both")
CASES = [(point, whom) for point in ALL for whom in BY_DEATH]
# Every twelfth point, with the core or both in turn; all of them in make test-slow.
QUICK = {(point, BY_DEATH[place % 2]) for place, point in enumerate(ALL[::12])}

# A core that outlives its workers loses many of them. What is reached once per core comes first or last.
FIRST, LAST, RESCUE = ("baseline.",), ("save.staged", "save.recorded", "close.saved"), ("repair.",)
# No worker lives there.
WITHOUT_WORKER = ("recovery.", "close.workers_ended")
# A core that has just rebuilt its scene may have nothing to save a second time.
LOSSES = [
    point
    for point in ALL
    if not point.startswith((*FIRST, *LAST, *RESCUE, *WITHOUT_WORKER)) and point != "save.written:2"
]
SOME_LOSSES = ["baseline.committed:1", *LOSSES[::4], "save.staged:1"]
FEW_LOSSES = SOME_LOSSES[:2]
OTHER_LOSSES = [
    ["baseline.before_commit:1", *(point for point in LOSSES if point not in SOME_LOSSES), "save.recorded:1"],
    ["close.saved:1"],
    *([point] for point in ALL if point.startswith(RESCUE)),
]


class Life:
    """A workspace, the stories it has lived through, and what a story is where nobody is killed."""

    def __init__(self, ask: Ask, directory: Path, *, real_starts: bool) -> None:
        self._ask = ask
        self._real_starts = real_starts
        self._directory = directory
        self._numbers = itertools.count(1)
        self._places = itertools.count()
        self._open: int | None = None
        self.undisturbed: dict[str, str] = {}
        self.renew()
        assert self.go([0], [""], "nobody") == 0
        self.undisturbed = hashes(self.told)

    def renew(self) -> None:
        """Another workspace: what it has not lived through, or whatever went wrong in the old one, must not matter."""
        self.workspace = self._directory / f"life-{next(self._places)}"
        self._open = None

    @property
    def told(self) -> list[list[str]]:
        return facts(told_of(self.workspace))

    def go(self, stories: list[int], points: list[str], whom: Whom, *, quarantine: bool = False) -> int:
        return self._ask(Case(str(self.workspace), stories, points, whom, quarantine, forked=not self._real_starts))

    def next_story(self, *reached: str) -> int:
        return next(
            n for n in self._numbers if (n % FAILING == 0) == any(point.startswith(TAKEN_BACK) for point in reached)
        )

    def killed(self, point: str, whom: Whom) -> None:
        if point.startswith(FIRST):
            self.renew()
        if point.startswith("recovery."):
            # There must be something to recover from.
            self.killed("whole.before_keep:1", "core")
        story = self.next_story(point)
        stories = [story] if self._open is None else [self._open, story]
        with self._judged(stories, [point], whom):
            code = self.go(stories, [point] * len(stories), whom, quarantine=point.startswith(RESCUE))
            assert code == -signal.SIGKILL

    def lost_workers(self, points: list[str]) -> None:
        """In one core, a worker for every point, each in a story of its own."""
        if points[0].startswith(FIRST):
            self.renew()
        else:
            self.completed()
        # Once its worker holds a scene, a core rebuilds it only after it was taken back.
        rebuilt = [point.replace("rebuild.", "rebuild.redone") for point in points]
        stories = [self.next_story(point) for point in rebuilt]
        with self._judged(stories, points, "worker"):
            assert self.go(stories, points, "worker", quarantine=points[0].startswith(RESCUE)) == 0

    @contextlib.contextmanager
    def _judged(self, stories: list[int], points: list[str], whom: Whom) -> Generator[None]:
        try:
            yield
            told = self.told
            # A core that was killed in an older story never came to the new one.
            broken_off = [number for number in stories if number not in ended(told)]
            self._open = broken_off[0] if broken_off else None
            missed = [point for point in points if ["killed", whom, point] not in told]
            assert not missed, "these points were not reached"
            assert_holds(self.workspace, told, self.undisturbed)
        except BaseException:
            self.renew()
            raise

    def completed(self) -> None:
        """Whatever was broken off last is played to its end."""
        if self._open is not None:
            assert self.go([self._open], [""], "nobody") == 0
            self._open = None
        if self.told:
            assert_holds(self.workspace, self.told, self.undisturbed)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Life]:
    real = sys.platform != "linux" or bool(pytestconfig.getoption("real_starts"))
    with server("crash_server") as ask:
        yield Life(ask, tmp_path_factory.mktemp("lives"), real_starts=real)


@pytest.mark.timeout(600)
@pytest.mark.proves("OPS-IDEM-04")
@pytest.mark.parametrize(
    ("point", "whom"),
    [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow, id=" ".join(case)) for case in CASES],
)
def test_a_core_killed_at_a_point_loses_and_doubles_nothing(life: Life, point: str, whom: Whom) -> None:
    life.killed(point, whom)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "points",
    [FEW_LOSSES, *(pytest.param(points, marks=pytest.mark.slow) for points in (SOME_LOSSES, *OTHER_LOSSES))],
    ids=lambda points: f"{points[0]} and {len(points) - 1} more",
)
def test_a_core_that_loses_its_worker_at_a_point_goes_on_and_loses_and_doubles_nothing(
    life: Life, points: list[str]
) -> None:
    life.lost_workers(points)


def test_as_many_outcomes_are_tried_as_were_promised() -> None:
    lost = {point for points in (SOME_LOSSES, *OTHER_LOSSES) for point in points}
    assert lost == {point for point in ALL if not point.startswith(WITHOUT_WORKER) and point != "save.written:2"}
    # Together with the journal's own cases, which are quicker, more than sixty are tried in every run of the tests.
    assert len(CASES) >= 60 and len(QUICK) >= len(ALL) // 12


def test_an_effect_outside_the_scene_whose_commit_is_missing_is_told(life: Life) -> None:
    life.renew()
    life.killed("call.delivered:1", "core")
    life.completed()
    told = [" ".join(fact) for fact in life.told if fact[0] == "recovered"]
    assert any("had an effect outside the scene (file.export writes" in sentence for sentence in told), told


def test_what_was_broken_off_last_is_completed(life: Life) -> None:
    life.completed()
