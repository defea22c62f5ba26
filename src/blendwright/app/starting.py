"""A new workspace: its journal, the scene it begins with, a policy to edit and a plan to try.

Blender is started only for a scene that is given: an empty one is begun by the first call. What is there already is never
replaced, and a workspace that cannot be begun leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from blendwright.app.opening import DEFAULT_WORKSPACE, open, place_of
from blendwright.app.policy_files import FILE as POLICY
from blendwright.journal.store import FILE as JOURNAL
from blendwright.run.externals import External, recorded_externals
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

EXAMPLE = "example.json"


@dataclass(frozen=True, slots=True)
class NewWorkspace:
    """`written` are the files for its user that were not there; `scene_hash` is None until Blender has begun the scene."""

    place: Path
    written: tuple[Path, ...]
    scene_hash: str | None
    externals: tuple[External, ...]


def begin(
    workspace: str | Path = DEFAULT_WORKSPACE, *, scene: str | Path | None = None, blender: str | Path | None = None
) -> NewWorkspace:
    """Begin a workspace. Raises Refusal when there is one already or the scene is no file, EnvironmentUnfit when it cannot be begun."""
    place = place_of(workspace)
    if (place / JOURNAL).exists():
        raise _refused(f"{place} is a workspace already", "Go on with it as it is, or name another directory.")
    if scene is not None and not Path(scene).is_file():
        raise _refused(f"there is no file {scene}", "Check the path given as scene.")
    absent = [directory for directory in (place, *place.parents) if not directory.exists()]
    present = set(place.iterdir()) if place.is_dir() else set[Path]()
    opened = open(place, scene=scene, blender=blender, spare=False)
    # Only from here on is what appears in the directory known to be ours.
    with contextlib.ExitStack() as undo:
        undo.callback(_take_back, place, present, absent)
        with opened:
            if scene is not None:
                opened.warm()
            written = _written(place)
            head = opened.journal.head
        undo.pop_all()
    if head is None:
        return NewWorkspace(place, written, None, ())
    return NewWorkspace(place, written, head.hash_after, recorded_externals(head.receipt))


def _written(place: Path) -> tuple[Path, ...]:
    written: list[Path] = []
    for name in (POLICY, EXAMPLE):
        text = files("blendwright").joinpath("app", "starter", name).read_bytes()
        try:
            with (place / name).open("xb") as file:
                file.write(text)
        except FileExistsError:
            continue
        except OSError as error:
            message = f"{place / name} cannot be written: {error.strerror}"
            raise EnvironmentUnfit(message, cure="Check the disk and the permissions there.") from error
        written.append(place / name)
    return tuple(written)


def _take_back(place: Path, present: set[Path], absent: Iterable[Path]) -> None:
    for entry in set(place.iterdir()) - present:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for directory in absent:
        directory.rmdir()


def _refused(message: str, cure: str) -> Refusal:
    return Refusal([Finding(Fault.SCENE_CONFLICT, message, "", cure)])
