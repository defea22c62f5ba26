"""What is brought out is on the disk before anybody is told: first its content, then its name."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from blendwright.util.no_follow import open_directory, open_file, write_whole


def write(place: Path, name: str) -> None:
    source = place / "source"
    source.write_bytes(b"content")
    with open_directory(place) as directory, open_file(source) as opened:
        write_whole(directory, name, opened)


def test_the_content_is_synced_before_the_name_and_the_name_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    fsync, replace = os.fsync, os.replace

    def record_sync(descriptor: int) -> None:
        happened.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        fsync(descriptor)

    def record_replace(source: str, target: str, **named: int) -> None:
        happened.append("name")
        replace(source, target, **named)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_replace)
    write(tmp_path, "made")
    assert happened == ["content", "name", "directory"] and (tmp_path / "made").read_bytes() == b"content"


def test_a_disk_that_refuses_to_sync_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output"):
        write(tmp_path, "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"], "nothing of it is left"
