"""Two processes on one workspace, in every pair of commands: who reads is answered, of those who write at least one, and nothing breaks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.journal import JournalView
from support.plans.documents import box

TESTS = Path(__file__).parents[1]
WORKSPACE = ".blendwright"
IN_USE = "is in use by"
PLAN = {"request_id": "pair", "operations": [box("p1"), box("p2", "p1")]}


@dataclass(frozen=True)
class Command:
    """`{n}` in an argument is the place in the pair. `blender`: it starts one. `writes`: it takes the lock of the workspace."""

    arguments: tuple[str, ...]
    writes: bool = False
    blender: bool = False

    def of(self, n: int) -> list[str]:
        return [argument.replace("{n}", str(n)) for argument in self.arguments]


COMMANDS = {
    "log": Command(("log",)),
    "show": Command(("show", "HEAD")),
    "audit verify": Command(("audit", "verify")),
    "externals": Command(("externals",)),
    "metrics": Command(("metrics",)),
    "gc": Command(("gc",), writes=True),
    "recover": Command(("recover",), writes=True),
    "diff": Command(("diff", "2", "HEAD"), blender=True),
    "export": Command(("export", "out-{n}.blend"), blender=True),
    "replay": Command(("replay",), blender=True),
    "preview": Command(("preview", "plan.json"), blender=True),
    "run": Command(("run", "plan.json"), writes=True, blender=True),
    "call": Command(("call", "object.create_empty", "--args", '{"name": "Called {n}"}'), writes=True, blender=True),
    "checkout": Command(("checkout", "2"), writes=True, blender=True),
    "undo": Command(("undo",), writes=True, blender=True),
    "adopt": Command(("adopt", "edited.blend"), writes=True, blender=True),
}
PAIRS = list(combinations_with_replacement(COMMANDS, 2))
# Those of a writer without Blender, and of the others those that are most at odds.
QUICK = {("log", "show"), ("preview", "run"), ("run", "checkout")} | {
    pair
    for pair in PAIRS
    if any(COMMANDS[name].writes for name in pair) and not any(COMMANDS[name].blender for name in pair)
}

Ask = Callable[[Path, list[list[str]]], list[Any]]


@pytest.fixture(scope="module")
def together() -> Iterator[Ask]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS / "cli"), *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-m", "command_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        talk = process.stdin, process.stdout

        def ask(place: Path, commands: list[list[str]]) -> list[Any]:
            talk[0].write(json.dumps([str(place), commands]) + "\n")
            talk[0].flush()
            return json.loads(talk[1].readline())

        yield ask
        process.stdin.close()
        process.wait(60)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with a workspace of a few commits, two of them saved."""
    place = tmp_path_factory.mktemp("pairs")
    (place / "plan.json").write_text(json.dumps(PLAN))
    with blendwright.open(place / WORKSPACE, roots=[place], spare=False) as scene:
        assert scene.run({"request_id": "base", "operations": [box("b1"), box("b2")]}).ok
        assert scene.call("file.export", path=str(place / "edited.blend")).ok
        assert scene.run({"request_id": "more", "operations": [box("m1")]}).ok
        assert scene.history.adopt(place / "edited.blend") is not None
        assert scene.run({"request_id": "last", "operations": [box("l1")]}).ok
    return place


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "pair",
    [pytest.param(pair, marks=() if pair in QUICK else pytest.mark.slow, id=" and ".join(pair)) for pair in PAIRS],
)
def test_two_commands_at_once(together: Ask, template: Path, tmp_path: Path, pair: tuple[str, str]) -> None:
    place = tmp_path / "place"
    shutil.copytree(template, place)
    one, other = (COMMANDS[name] for name in pair)
    done = together(place, [one.of(1), other.of(2)])
    for command, (code, out, err) in zip((one, other), done, strict=True):
        assert "Traceback" not in out + err and "Error:" not in err, (command, out, err)
        if command.writes:
            assert code == 0 or (code == 3 and IN_USE in err), (command, code, out, err)
        else:
            assert code == 0, (command, code, out, err)
    if one.writes or other.writes:
        assert 0 in [code for (code, *_), command in zip(done, (one, other), strict=True) if command.writes], done
    assert_whole(place)
    # Whoever had to wait is answered afterwards.
    for command, (code, *_) in zip((one, other), done, strict=True):
        if code == 3:
            ((again, out, err),) = together(place, [command.of(3)])
            assert again == 0, (command, out, err)
    assert_whole(place)


def assert_whole(place: Path) -> None:
    """The chain holds, every key is committed once on HEAD's line, every commit can be rebuilt, and no scratch is left."""
    view = JournalView(place / WORKSPACE)
    report = view.audit.verify()
    assert report.ok, report.problems
    line = view.log(limit=1000)
    keys = [commit.operation_key for commit in line if commit.operation_key is not None]
    assert len(keys) == len(set(keys))
    for commit in view.log(limit=1000, all_lines=True):
        assert not view.checkpoints.route(commit.number).damaged
    assert view.recovery.quarantine() is None and view.recovery.open_boundary() is None
    view.close()
    left = [path for path in (place / WORKSPACE / "scratch").rglob("*") if path.name not in ("previews", ".lock")]
    assert left == []
