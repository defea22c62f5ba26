"""What the workspace with a history is made of, and what tests do to it behind the journal's back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import apsw

from blendwright.wire.remote_scene import RemoteScene
from support.engine.engine import Engine
from support.plans.documents import box, of_operations

TRIANGLE = "o Triangle\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
PLAN = of_operations(box("a"), box("b", "a"))


def copy_of(engine: Engine, place: Path) -> Path:
    """The workspace as it lies on the disk, to be tampered with."""
    place.mkdir()
    source: Any = apsw.Connection(str(engine.place / "workspace" / "journal.db"), apsw.SQLITE_OPEN_READONLY)
    source.execute("VACUUM INTO ?", (str(place / "journal.db"),))
    source.close()
    shutil.copytree(engine.place / "workspace" / "checkpoints", place / "checkpoints")
    return place


def do(engine: Engine, worker: RemoteScene, tool: str, args: dict[str, Any]) -> None:
    """One step in a worker, without a word to the journal."""
    canonical = engine.tools[tool].args_model.model_validate(args).model_dump(mode="json")
    request = {"tool": tool, "version": engine.tools[tool].version, "args": canonical}
    answer = worker.call("scene.step", request, deadline=30)
    assert answer["ok"], answer


def edit_arguments(db: Any) -> None:
    """The third commit tells of another object than was made."""
    db.execute("UPDATE commits SET args = replace(args, 'Box b', 'Box c') WHERE number = 3")
