"""A workspace is for its owner's eyes: what is made is closed to others, and what was open is closed when it is opened again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from blendwright.journal import Journal


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """As open as a process can be told to make files."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def open_to_others(place: Path) -> list[str]:
    return [str(path) for path in (place, *place.rglob("*")) if path.lstat().st_mode & 0o077 and not path.is_symlink()]


def test_a_new_workspace_is_closed_to_others_with_all_that_is_in_it(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "workspace"
    saved = tmp_path / "saved.blend"
    saved.write_bytes(b"BLENDER")
    journal = Journal(place)
    journal.checkpoints.stage(saved, "hash")
    assert {"journal.db", "journal.db-wal", "journal.db-shm"} <= {path.name for path in place.iterdir()}
    assert open_to_others(place) == [] and mode(place) == 0o700 and mode(place / "journal.db") == 0o600
    journal.close()
    assert mode(place.parent) == 0o777, "what is around it is made as ever"


def test_one_that_was_open_is_closed_when_it_is_opened(tmp_path: Path) -> None:
    place = tmp_path / "workspace"
    Journal(place).close()
    (place / "blendwright.toml").touch()
    for path in (place, *place.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    Journal(place).close()
    assert open_to_others(place) == [str(place / "blendwright.toml")], "the policy is no secret"


def test_a_project_around_it_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "scene.blend").touch()
    (place / "elsewhere").mkdir()
    (place / "artifacts").symlink_to(place / "elsewhere")
    Journal(place).close()
    assert (mode(place), mode(place / "scene.blend"), mode(place / "elsewhere")) == (0o777, 0o666, 0o777)
    assert mode(place / "journal.db") == 0o600 and mode(place / "checkpoints") == 0o700
