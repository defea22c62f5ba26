"""The cache of hashes: what is stored is found again, and whatever is wrong with the file costs time only."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from blendwright.tools.registry_cache import FILE, MOST_ENTRIES, load, store, user_directory

HASH = "ab" * 32
STORED = {"mesh.create": HASH}


def test_what_is_stored_is_found_under_its_key_alone(tmp_path: Path) -> None:
    store(tmp_path / "deep" / "cache", "key", STORED)
    assert load(tmp_path / "deep" / "cache", "key") == STORED
    assert load(tmp_path / "deep" / "cache", "another") == {}


def test_the_newest_entries_stay(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 2):
        store(tmp_path, str(number), STORED)
    store(tmp_path, "2", STORED)
    assert list(json.loads((tmp_path / FILE).read_text())) == [*map(str, range(3, MOST_ENTRIES + 2)), "2"]


def test_the_file_and_its_directory_are_private_and_nothing_else_is_left(tmp_path: Path) -> None:
    store(tmp_path / "cache", "key", STORED)
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "cache" / FILE).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [FILE]


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "[" * 100_000, '{"key": []}', '{"key": {"mesh.create": 1}}', '{"key": {"mesh.create": "short"}}',
        '{"key": {"mesh.create": "' + "g" * 64 + '"}}',
    ],
)  # fmt: skip
def test_a_damaged_file_is_no_cache_and_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert load(tmp_path, "key") == {}
    store(tmp_path, "key", STORED)
    assert load(tmp_path, "key") == STORED


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_ignored(tmp_path: Path, mode: int) -> None:
    store(tmp_path, "key", STORED)
    (tmp_path / FILE).chmod(mode)
    assert load(tmp_path, "key") == {}


def test_a_file_of_another_user_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path, "key", STORED)
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / FILE).stat().st_uid + 1)
    assert load(tmp_path, "key") == {}


def test_a_directory_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store(tmp_path / "file", "key", STORED)
    assert load(tmp_path / "file", "key") == {}


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(tmp_path, "key", STORED)

    def full(*arguments: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(json, "dump", full)
    store(tmp_path, "another", STORED)
    assert load(tmp_path, "key") == STORED
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert user_directory() is None
    store(None, "key", STORED)
    assert load(None, "key") == {}
