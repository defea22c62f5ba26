from __future__ import annotations

from pathlib import Path

import pytest

from blendwright.batch.outputs.store import DirectoryOutputs, attempt_name, differing_files
from blendwright.values.errors import EnvironmentUnfit


def staged(place: Path, text: str = "a scene") -> Path:
    directory = place / "staged"
    (directory / "passes").mkdir(parents=True)
    (directory / "scene.blend").write_text(text)
    (directory / "passes" / "depth.exr").write_text("depths")
    return directory


def test_what_is_published_is_there_as_a_whole_with_its_manifest(tmp_path: Path) -> None:
    store, directory = DirectoryOutputs(tmp_path / "out"), staged(tmp_path)
    manifest = store.publish(directory, "000042", "key", "hash")
    assert not directory.exists()
    assert store.manifest("000042") == manifest
    assert set(manifest.files) == {"scene.blend", "passes/depth.exr"}
    assert manifest.files["passes/depth.exr"]["bytes"] == 6
    assert list(store.names()) == ["000042"]
    with store.open("000042", "scene.blend") as file:
        assert file.read() == b"a scene"
    assert differing_files(store, "000042", manifest) == ()


def test_a_name_is_used_once(tmp_path: Path) -> None:
    store = DirectoryOutputs(tmp_path / "out")
    store.publish(staged(tmp_path), "000042", "key", "hash")
    with pytest.raises(FileExistsError):
        store.publish(staged(tmp_path, "another"), "000042", "key", "hash")
    with store.open("000042", "scene.blend") as file:
        assert file.read() == b"a scene"


def test_every_attempt_has_a_name_of_its_own() -> None:
    assert [attempt_name(7, fence) for fence in (1, 2, 11)] == ["000007", "000007-2", "000007-11"]


def test_files_that_were_changed_or_are_gone_are_found(tmp_path: Path) -> None:
    store = DirectoryOutputs(tmp_path / "out")
    manifest = store.publish(staged(tmp_path), "000042", "key", "hash")
    place = Path(store.location("000042"))
    (place / "scene.blend").write_text("b scene")
    (place / "passes" / "depth.exr").unlink()
    assert differing_files(store, "000042", manifest) == ("scene.blend", "passes/depth.exr")


def test_what_is_removed_is_gone_and_nothing_else(tmp_path: Path) -> None:
    store = DirectoryOutputs(tmp_path / "out")
    for name in ("000001", "000001-2"):
        store.publish(staged(tmp_path), name, "key", "hash")
    store.remove("000001")
    store.remove("000009")
    assert list(store.names()) == ["000001-2"]
    assert store.manifest("000001") is None


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(EnvironmentUnfit, match="cannot be written"):
        DirectoryOutputs(tmp_path / "out").publish(staged(tmp_path), "000001", "key", "hash")
