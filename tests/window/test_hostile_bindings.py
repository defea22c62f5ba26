"""Workspaces from somebody else that contain a binding to a window."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from blendwright.values.errors import EnvironmentUnfit
from blendwright.window.binding import BoundWindow, WindowBinding

HOSTILE = "a\u202eb\x1b[31m\n{0}%s" + "x" * 10_000
BOUND = BoundWindow(1, 1.0, "5.2.0")
ENDLESS = json.dumps({"pid": 1, "started": 10**400, "blender": "", "diverged": ""})
NO_BINDINGS: dict[str, Callable[[Path], object]] = {
    "a pipe": lambda path: os.mkfifo(path, 0o600),
    "a link": lambda path: path.symlink_to(_written(path.with_name("elsewhere"), "{}")),
    "a list": lambda path: _written(path, "[]"),
    "too deep": lambda path: _written(path, "[" * 100_000),
    "a time without end": lambda path: _written(path, ENDLESS),
    "a pid without end": lambda path: _written(path, '{"pid": 1e400, "started": 1, "blender": "", "diverged": ""}'),
}


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", NO_BINDINGS)
def test_what_is_no_binding_is_refused(tmp_path: Path, kind: str) -> None:
    NO_BINDINGS[kind](tmp_path / "window.json")
    with pytest.raises(EnvironmentUnfit, match="is not a valid record of the attached window"):
        WindowBinding(tmp_path).read()


def test_writing_a_binding_follows_no_link(tmp_path: Path) -> None:
    mine = _written(tmp_path / "mine", "precious")
    for name in ("window.json", "window.part", "window.json.part"):
        (tmp_path / name).symlink_to(mine)
    WindowBinding(tmp_path).write(BOUND)
    assert mine.read_text() == "precious" and WindowBinding(tmp_path).read() == BOUND
    assert (tmp_path / "window.json").stat().st_mode & 0o777 == 0o600


def test_what_a_binding_says_is_one_line(tmp_path: Path) -> None:
    WindowBinding(tmp_path).write(BoundWindow(1, 1.0, HOSTILE, HOSTILE))
    bound = WindowBinding(tmp_path).read()
    assert bound is not None and bound.diverged.isprintable() and len(bound.diverged + bound.blender) < 1000
