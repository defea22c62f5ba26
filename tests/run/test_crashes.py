"""kill -9 of core, worker and both at every named point of the run layer: nothing acknowledged is lost, nothing is applied twice.

One workspace lives through all of it. Whoever opens it next rebuilds its scene, comparing every hash, plays the story that was
broken off to its end, and is killed in the next one: each must end in the scene of a story that nobody disturbed.
"""

from __future__ import annotations

import ast
import itertools
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_evidence import assert_holds, ended, facts, hashes
from crash_server import Ask, Case, Whom, server, told_of
from crash_story import FAILING

import blendwright

SOURCE = Path(blendwright.__file__).parent


def named_points() -> list[str]:
    """Every place in the run layer and above it, read from the source."""
    found: list[str] = []
    for path in sorted([*(SOURCE / "run").glob("*.py"), *(SOURCE / "app").glob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "crash_points.reach":
                assert isinstance(node.args[0], ast.Constant)
                found.append(str(node.args[0].value))
    return found


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
TAKEN_BACK = ("plan.failed", "whole.before_rollback", "whole.rolled_back", "rebuild.redone")
# No worker lives there.
WITHOUT_WORKER = ("recovery.", "close.workers_ended")
WHOM: tuple[Whom, ...] = ("core", "worker", "both")
EVERY = [(point, whom) for whom in WHOM for point in ALL if whom != "worker" or not point.startswith(WITHOUT_WORKER)]
# One who is killed per point, in turn; all of them in make test-slow.
QUICK = {(point, WHOM[place % 3] if (point, WHOM[place % 3]) in EVERY else "core") for place, point in enumerate(ALL)}


class Life:
    """A workspace, the stories it has lived through, and what a story is where nobody is killed."""

    def __init__(self, ask: Ask, directory: Path) -> None:
        self._ask = ask
        self._directory = directory
        self._numbers = itertools.count(1)
        self._places = itertools.count()
        self._open: int | None = None
        self.undisturbed: dict[str, str] = {}
        self.renew()
        assert self.go([0], "nowhere:1", "nobody") == 0
        self.undisturbed = hashes(self.told)

    def renew(self) -> None:
        """Another workspace: what it has not lived through, or whatever went wrong in the old one, must not matter."""
        self.workspace = self._directory / f"life-{next(self._places)}"
        self._open = None

    @property
    def told(self) -> list[list[str]]:
        return facts(told_of(self.workspace))

    def go(self, stories: list[int], point: str, whom: Whom, *, quarantine: bool = False) -> int:
        return self._ask(Case(str(self.workspace), stories, [point] * len(stories), whom, quarantine))

    def next_story(self, point: str) -> int:
        return next(n for n in self._numbers if (n % FAILING == 0) == point.startswith(TAKEN_BACK))

    def killed(self, point: str, whom: Whom) -> None:
        if point.startswith("baseline."):
            self.renew()
        if point.startswith("recovery."):
            # There must be something to recover from.
            self.killed("whole.before_keep:1", "core")
        story = self.next_story(point)
        stories = [story] if self._open is None else [self._open, story]
        try:
            code = self.go(stories, point, whom, quarantine=point.startswith("rescue."))
            # A core that was killed in an older story never came to the new one.
            told = self.told
            begun = [number for number in stories if number not in ended(told)]
            self._open = begun[0] if begun else None
            assert code == (0 if whom == "worker" else -signal.SIGKILL)
            assert ["killed", whom, point] in told
            if (self.workspace / "journal.db").exists() and told:
                assert_holds(self.workspace, told, self.undisturbed)
        except BaseException:
            self.renew()
            raise

    def completed(self) -> None:
        """Whatever was broken off last is played to its end."""
        if self._open is not None:
            assert self.go([self._open], "nowhere:1", "nobody") == 0
            self._open = None
        assert_holds(self.workspace, self.told, self.undisturbed)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    with server("crash_server") as ask:
        yield Life(ask, tmp_path_factory.mktemp("lives"))


@pytest.mark.proves("OPS-IDEM-04")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("point", "whom"),
    [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow, id=" ".join(case)) for case in EVERY],
)
def test_killed_at_a_point_nothing_is_lost_or_applied_twice(life: Life, point: str, whom: Whom) -> None:
    life.killed(point, whom)


def test_an_effect_outside_the_scene_whose_commit_is_missing_is_told(life: Life) -> None:
    life.renew()
    life.killed("call.delivered:1", "core")
    life.completed()
    told = [" ".join(fact) for fact in life.told if fact[0] == "recovered"]
    assert any("had an effect outside the scene (file.export writes" in sentence for sentence in told), told


def test_what_was_broken_off_last_is_completed(life: Life) -> None:
    life.completed()
