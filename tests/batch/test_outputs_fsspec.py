"""Outputs on storage without rename: the manifest comes last, what was written is read back, and nobody's attempt replaces another's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from blendwright.batch.outputs.locations import open_outputs
from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.outputs.store import DirectoryOutputs, attempt_name, differing_files
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, Refusal


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FsspecOutputs:
    place = f"memory://{tmp_path.name}" if request.param == "memory" else f"file://{tmp_path}/share"
    store = open_outputs(place)
    assert isinstance(store, FsspecOutputs)
    return store


def staged(tmp_path: Path, text: str = "glTF") -> Path:
    folder = tmp_path / f"staged-{text}"
    (folder / "workspace").mkdir(parents=True)
    (folder / "scene.glb").write_text(text)
    (folder / "workspace" / "journal.db").write_bytes(b"\0" * 5000)
    return folder


def test_what_was_published_is_whole_and_the_staged_files_are_gone(store: FsspecOutputs, tmp_path: Path) -> None:
    folder = staged(tmp_path)
    manifest = store.publish(folder, "000007", "key", "hash")
    assert not folder.exists()
    assert set(manifest.files) == {"scene.glb"}
    assert store.manifest("000007") == manifest
    assert differing_files(store, "000007", manifest) == ()
    assert store.open("000007", "scene.glb").read() == b"glTF"
    # A workspace that is kept lies beside them; whoever opens it changes it.
    assert store.open("000007", "workspace/journal.db").read() == b"\0" * 5000
    assert list(store.names()) == ["000007"]


def test_a_name_is_used_once(store: FsspecOutputs, tmp_path: Path) -> None:
    store.publish(staged(tmp_path, "first"), "000007", "key", "hash")
    with pytest.raises(FileExistsError):
        store.publish(staged(tmp_path, "second"), "000007", "key", "hash")
    assert store.open("000007", "scene.glb").read() == b"first"


def test_an_attempt_that_is_cut_off_before_its_manifest_is_not_published(
    store: FsspecOutputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def reach(name: str) -> None:
        if name == "batch.outputs_staged":
            raise Killed

    monkeypatch.setattr(crash_points, "reach", reach)
    with pytest.raises(Killed):
        store.publish(staged(tmp_path), attempt_name(7, 1), "key", "hash")
    monkeypatch.undo()
    assert store.manifest("000007") is None
    assert list(store.names()) == []
    assert list(store.attempts()) == ["000007"]
    store.publish(staged(tmp_path, "again"), attempt_name(7, 2), "key", "hash")
    assert list(store.names()) == ["000007-2"]
    store.remove("000007")
    assert list(store.attempts()) == ["000007-2"]


def test_storage_that_changes_what_it_is_given_is_noticed(
    store: FsspecOutputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_less(source: str, target: str) -> None:
        store._system.pipe_file(target, Path(source).read_bytes()[:-1])  # pyright: ignore[reportPrivateUsage]

    system: Any = store._system  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(system, "put_file", put_less)
    with pytest.raises(EnvironmentUnfit, match="returned other content"):
        store.publish(staged(tmp_path), "000007", "key", "hash")
    assert store.manifest("000007") is None


def test_what_was_removed_is_gone_and_removing_it_again_is_nothing(store: FsspecOutputs, tmp_path: Path) -> None:
    store.publish(staged(tmp_path), "000007", "key", "hash")
    store.remove("000007")
    store.remove("000007")
    assert list(store.attempts()) == []
    with pytest.raises(FileNotFoundError):
        store.open("000007", "scene.glb")


def test_a_place_without_a_scheme_is_a_directory(tmp_path: Path) -> None:
    assert isinstance(open_outputs(str(tmp_path)), DirectoryOutputs)


@pytest.mark.parametrize("url", ["s3://key:secret@bucket/x", "s3://bucket/x?token=secret"])
def test_an_address_that_may_hold_a_secret_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(Refusal) as refused:
        open_outputs(url)
    assert "secret@" not in f"{refused.value.message} {refused.value.cure}"
    assert "token" not in f"{refused.value.message} {refused.value.cure}"


def test_storage_whose_package_is_missing_is_told_with_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(EnvironmentUnfit, match="cannot be used for outputs here") as told:
        open_outputs("gs://bucket/x")
    assert "pip install s3fs" in (told.value.cure or "")


@pytest.mark.parametrize(
    "url",
    [
        "nonsense://x", "ftp://127.0.0.1/x", "http://169.254.169.254/latest", "ssh://127.0.0.1/x", "local:///x",
        "simplecache::s3://bucket/x", "s3://bucket/x::http://host/y", "file://relative/x", "file:///mnt/../etc",
        "s3://bucket/*", "s3://bucket/[ab]", "s3://bucket/./x", "s3://bucket/x\n",
    ],
)  # fmt: skip
def test_no_other_place_is_connected_to(url: str) -> None:
    with pytest.raises(Refusal, match="is not a location for outputs") as refused:
        open_outputs(url)
    assert "s3://bucket/folder" in str(refused.value.findings[0].cure)
