"""Where pictures of scenes are kept: in a workspace that may be somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blendwright.console import picture_cache
from blendwright.console.picture_cache import DIRECTORY, MAX_PICTURE_BYTES, NOTHING, PictureCache

OWN = "0" * 40 + ".webp"


def test_pictures_are_kept_and_the_oldest_of_ours_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_cache, "MAX_BYTES", 100)
    monkeypatch.setattr(picture_cache, "WRITES_PER_CHECK", 2)
    kept = PictureCache(tmp_path)
    kept.write("own", "a", b"a" * 60)
    kept.write("own", "empty", None)
    assert (kept.read("own", "a"), kept.read("own", "empty"), kept.read("own", "b")) == (b"a" * 60, NOTHING, None)
    for file in (tmp_path / DIRECTORY).iterdir():
        os.utime(file, (1, 1))
    mine = tmp_path / DIRECTORY / "thesis.txt"
    mine.write_bytes(b"x" * 200)
    os.utime(mine, (0, 0))
    (tmp_path / DIRECTORY / OWN).mkdir()
    kept.write("own", "b", b"b" * 60)
    assert kept.read("own", "b") == b"b" * 60
    assert kept.read("own", "a") is None
    assert mine.exists(), "what has another name is not ours to remove"


def test_a_link_leads_to_nothing_that_is_removed_read_or_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_cache, "MAX_BYTES", 1)
    (tmp_path / "workspace").mkdir()
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("thesis.txt", OWN):
        (documents / name).write_bytes(b"mine")
    (tmp_path / "workspace" / DIRECTORY).symlink_to(documents)
    kept = PictureCache(tmp_path / "workspace")
    kept.write("own", "a", b"a picture")
    assert sorted(one.name for one in documents.iterdir()) == [OWN, "thesis.txt"]
    # A page that was told of the picture gets it all the same, instead of asking for ever.
    assert kept.read("own", "a") == b"a picture"
    assert PictureCache(tmp_path / "workspace").read("own", "a") is None


def test_what_is_no_picture_of_ours_is_made_anew(tmp_path: Path) -> None:
    kept = PictureCache(tmp_path)
    for kind in ("pipe", "link", "large"):
        kept.write(kind, "scene", b"x")
    pipe, link, large = (
        tmp_path / DIRECTORY / picture_cache.file_name(one, "scene") for one in ("pipe", "link", "large")
    )
    for path in (pipe, link):
        path.unlink()
    (tmp_path / "private").write_bytes(b"private")
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "private")
    os.truncate(large, MAX_PICTURE_BYTES + 1)
    assert [kept.read(one, "scene") for one in ("pipe", "link", "large")] == [None, None, None]
    kept.write("pipe", "scene", b"again")
    assert kept.read("pipe", "scene") == b"again"
