"""What lasts over a second says so on a terminal, and nowhere else."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from rich.progress import Progress

from blendwright.cli.progress import Rate
from support.plans.documents import box
from support.processes.shell import PROGRAM, Shell

PLAN = {"request_id": "boxes", "operations": [box("a"), box("b", "a"), box("c", "b")]}


def shown(place: Path, *arguments: str, **environment: str) -> str:
    """Everything that a terminal was sent by the program, which must succeed."""
    ours, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}}
    process = subprocess.Popen(
        [PROGRAM, *arguments], cwd=place, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        env=variables | {"TERM": "xterm-256color"} | environment,
    )  # fmt: skip
    os.close(theirs)
    parts: list[bytes] = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:
        pass  # how a terminal says that nobody is on the other side any more
    os.close(ours)
    assert process.wait(90) == 0, b"".join(parts)
    return b"".join(parts).decode()


def test_runs_moves_and_files_tell_what_they_are_at(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    ran = shown(tmp_path, "run", "plan.json", "--image", "boxes.png", COLUMNS="120")
    assert "starting Blender" in ran and "3/3" in ran and "taking the picture" in ran
    assert "\x1b[32m" in ran, "colours, where they are seen"
    assert "rebuilding the scene" in shown(tmp_path, "undo")
    assert "writing the file" in shown(tmp_path, "export", "boxes.blend")
    plain = shown(tmp_path, "preview", "plan.json", "--workspace", "other", NO_COLOR="1", COLUMNS="40")
    assert "starting Blender" in plain and "\x1b[32m" not in plain and "\x1b[1;32m" not in plain


def test_elsewhere_nothing_is_shown(shell: Shell) -> None:
    made = shell("call", "object.create_empty", "--args", '{"name": "A"}', code=0)
    moved = shell("undo", code=0)
    assert made.err == moved.err == "" and "\x1b" not in made.out + moved.out


@pytest.mark.parametrize(
    ("speed", "told"), [(40.0, "40/s  0:00:03 left"), (0.5, "30/min  0:03:20 left"), (350_000.0, "")]
)
def test_the_rate_and_the_time_left_are_told(speed: float, told: str) -> None:
    now = 0.0
    bar = Progress(Rate(), get_time=lambda: now, auto_refresh=False)
    task = bar.add_task("", total=200)
    for _ in range(100):
        now += 1 / speed
        bar.advance(task)
    assert Rate().render(bar.tasks[0]).plain == told
