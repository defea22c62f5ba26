"""What a call writes: all of its files or none, and never in the place of one that nobody said could go."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.files.delivery import Move, deliver
from blendwright.util import crash_points
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from support.engine.engine import Engine

WRITE = "for name in ('a.txt', 'b.txt'):\n    open(files[name], 'w').write('new ' + name)"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], Any]], None]:
    """Have something happen the first time that an instant of the delivery is reached."""

    def arrange(point: str, happens: Callable[[], Any]) -> None:
        left = [happens]

        def reach(name: str) -> None:
            if name == point and left:
                left.pop()()

        monkeypatch.setattr(crash_points, "reach", reach)

    return arrange


class Scratch:
    """Files as a worker leaves them, and where they go."""

    def __init__(self, place: Path) -> None:
        self.root, self.target = place / "scratch", place / "target"
        (self.root / "files").mkdir(parents=True)
        self.target.mkdir()

    def moves(self, *names: str, **more: Any) -> list[Move]:
        for name in names:
            (self.root / "files" / name).write_text(f"new {name}")
        return [Move(self.root, ("files", name), self.target / name, **more) for name in names]

    def found(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in sorted(self.target.iterdir()) if path.is_file()}


@pytest.fixture(params=["links", "no links"])
def scratch(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    """On a file system with hard links, and as on one that has none."""
    if request.param == "no links":

        def refuse(*_: Any, **__: Any) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refuse)
    return Scratch(tmp_path.resolve())


def test_all_arrive(scratch: Scratch) -> None:
    deliver(scratch.moves("a", "b"))
    assert scratch.found() == {"a": "new a", "b": "new b"}
    assert list((scratch.root / "files").iterdir()) == [], "what was delivered is not left in the scratch"


@pytest.mark.parametrize("point", ["files.before_move", "files.moved"])
def test_what_appears_in_between_stays_and_nothing_else_comes(
    scratch: Scratch, at: Callable[[str, Callable[[], Any]], None], point: str
) -> None:
    moves = scratch.moves("a", "b")
    at(point, lambda: (scratch.target / "b").write_text("foreign"))
    with pytest.raises(Refusal) as refused:
        deliver(moves)
    (finding,) = refused.value.findings
    assert finding.fault is Fault.SCENE_CONFLICT and str(scratch.target / "b") in finding.message
    assert scratch.found() == {"b": "foreign"}


def test_a_link_that_appears_is_no_way_through(
    scratch: Scratch, at: Callable[[str, Callable[[], Any]], None], tmp_path: Path
) -> None:
    moves = scratch.moves("a")
    at("files.before_move", lambda: (scratch.target / "a").symlink_to(tmp_path / "elsewhere"))
    with pytest.raises(Refusal):
        deliver(moves)
    assert not (tmp_path / "elsewhere").exists() and (scratch.target / "a").is_symlink()


def test_what_was_replaced_comes_back_when_another_cannot_be_written(
    scratch: Scratch, at: Callable[[str, Callable[[], Any]], None]
) -> None:
    (scratch.target / "a").write_text("old a")
    (scratch.target / "b").write_text("old b")
    moves = scratch.moves("a", "b", "c", replaces=True)
    at("files.moved", lambda: (scratch.target / "c").mkdir())
    with pytest.raises(Refusal) as refused:
        deliver(moves)
    assert str(scratch.target / "c") in refused.value.message
    assert scratch.found() == {"a": "old a", "b": "old b"}
    (scratch.target / "c").rmdir()
    deliver(scratch.moves("a", "b", "c", replaces=True))
    assert scratch.found() == {"a": "new a", "b": "new b", "c": "new c"}


def test_what_somebody_puts_in_the_place_of_a_delivered_file_is_not_taken_back(
    scratch: Scratch, at: Callable[[str, Callable[[], Any]], None]
) -> None:
    moves = scratch.moves("a", "b")

    def meddle() -> None:
        (scratch.target / "other").write_text("theirs")
        (scratch.target / "other").replace(scratch.target / "a")
        (scratch.target / "b").write_text("foreign")

    at("files.moved", meddle)
    with pytest.raises(Refusal):
        deliver(moves)
    assert scratch.found() == {"a": "theirs", "b": "foreign"}


ENGINE_CALLS = (("object.create_empty", {"name": "Here"}),)


def test_code_that_writes_two_files_leaves_both_or_none(
    engine: Engine, at: Callable[[str, Callable[[], Any]], None]
) -> None:
    files = [engine.place / name for name in ("a.txt", "b.txt")]
    args = {"code": WRITE, "files": {"out": [str(file) for file in files]}}
    head = engine.head().number
    at("files.moved", lambda: files[1].write_text("foreign"))
    outcome = engine.call("python.run", args)
    assert outcome.fault is Fault.SCENE_CONFLICT and str(files[1]) in outcome.message
    assert engine.head().number == head and not files[0].exists() and files[1].read_text() == "foreign"
    assert engine.do("python.run", args | {"overwrite": True}).ok
    assert [file.read_text() for file in files] == ["new a.txt", "new b.txt"]
    assert [path.name for path in engine.place.iterdir() if path.name.startswith(".")] == []
