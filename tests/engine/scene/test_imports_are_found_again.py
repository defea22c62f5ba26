"""What an import leaves is what any other process finds in the file of it: for every format, and all that formats hold besides shapes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest

import blendwright
from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.files.interchange import IMPORTERS
from blendwright.engine.scene.rebuild import rebuild_commit, take_worker
from blendwright.journal import JournalView
from blendwright.tools.file.formats import IMPORTS
from blendwright.values.errors import RebuildFailed
from blendwright.values.faults import Fault
from support.engine.engine import Engine
from support.stage.import_samples import TEXTURES, write_samples
from support.stage.stage import Stage

# Files that name each other, and the folder that all of them lie in.
Samples = dict[str, Path]

# Its path is none of this system.
WINDOWS = "blend absolute windows"
# One of each format and each sort of texture; all of them in the slow tests.
FEW = {
    "obj beside", "gltf above", "usda relative", "usd absolute", "usdc sequence", "fbx missing", "fbx embedded packed", "glb packed",
    "blend relative", "blend windows", "stl", "ply", WINDOWS,
}  # fmt: skip


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Samples:
    place = tmp_path_factory.mktemp("samples") / "place"
    place.mkdir()
    return write_samples(place)


@pytest.fixture(scope="module")
def engine(samples: Samples) -> Iterator[Engine]:
    with Engine(samples["stl"].parent) as engine:
        yield engine


def staged(sample: Path, scratch: Path) -> dict[str, str]:
    """The file and what is copied with it, as the core does."""
    folder = scratch / "files" / "path"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in sample.parent.iterdir():
        if file == sample or (file.stem == sample.stem and file.suffix in (".mtl", ".bin")):
            shutil.copy(file, folder)
    return {str(sample): str(folder / sample.name)}


def paths() -> list[str]:
    data: Any = bpy.data
    named = [block.filepath for kind in ("images", "cache_files", "sounds", "fonts") for block in getattr(data, kind)]
    return [path for path in [*named, *(p.filepath for i in data.images for p in i.packed_files)] if path]


def test_there_is_a_sample_of_every_format_and_of_every_sort_of_texture(samples: Samples) -> None:
    assert {IMPORTS[path.suffix[1:]] for path in samples.values()} == {*IMPORTERS, "blend"}
    assert {path.suffix[1:] for path in samples.values()} == set(IMPORTS)
    assert all(f"{extension} {texture}" in samples for extension in ("glb", "fbx", "blend") for texture in TEXTURES)
    assert samples.keys() >= FEW


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_nothing_that_an_import_makes_is_another_thing_after_saving(
    samples: Samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: Stage, all_of_them: bool
) -> None:
    """In one process, leaf by leaf: a difference here is one that nobody has understood yet."""
    # The current directory of a worker is its scratch, and importers take paths to be relative to that.
    monkeypatch.chdir(tmp_path)
    different: dict[str, Any] = {}
    saved = tmp_path / "scene.blend"
    for name, sample in samples.items():
        if not all_of_them and name not in FEW:
            continue
        stage.state.reset()
        stage.do("file.import", {"path": str(sample)}, files=staged(sample, tmp_path))
        leaves = dict(stage.state.fingerprint.leaves())
        if within := [path for path in paths() if str(tmp_path) in path or not Path(path).is_absolute()]:
            different[name] = within
        stage.state.save(saved)
        stage.state.open(saved)
        if changes := fp.changes_between(leaves, dict(stage.state.fingerprint.leaves())):
            different[name] = changes
    assert different.pop(WINDOWS) == ["C:\\tex\\c.png"]
    assert different == {}


def test_a_texture_has_the_path_that_it_has_beside_the_original(
    samples: Samples, tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = samples["stl"].parent
    for name, texture in (
        ("obj beside", place / "tex" / "c.png"),
        ("gltf above", place.parent / "far" / "a.png"),
        ("obj far above", Path("/etc/hostname")),
        ("fbx relative", place / "tex" / "c.png"),
        ("blend relative", place / "tex" / "c.png"),
        ("blend sequence", place / "tex" / "s_0001.png"),
    ):
        stage.state.reset()
        stage.do("file.import", {"path": str(samples[name])}, files=staged(samples[name], tmp_path))
        assert str(texture) in paths(), name


@pytest.mark.real_starts
@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_import_is_found_by_another_process_with_the_same_hash(
    engine: Engine, samples: Samples, all_of_them: bool
) -> None:
    other = take_worker(engine.pool, engine.catalogue)
    for name, sample in samples.items():
        if not all_of_them and name not in FEW:
            continue
        outcome = engine.do("file.import", {"path": str(sample), "on_collision": "rename"})
        assert outcome.fingerprint_after == engine.head().hash_after == engine.full_hash(), name
        # Raises where the checkpoint leads to another scene.
        assert rebuild_commit(other, engine.journal, engine.head().number).hash == outcome.fingerprint_after, name
    other.close()
    assert engine.journal.recovery.quarantine() is None


def test_a_textured_file_is_imported_closed_and_opened_again(samples: Samples, tmp_path: Path) -> None:
    place = samples["obj beside"].parent
    workspace = tmp_path / "workspace"
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        brought = scene.outcome("file.import", {"path": str(samples["obj beside"])})
        assert brought.ok, brought.message
    with blendwright.open(workspace, roots=[place], spare=False) as scene:
        assert scene.hash == brought.fingerprint_after
        assert scene.outcome("object.create_empty", {"name": "Next"}).ok
    view = JournalView(workspace)
    assert view.recovery.quarantine() is None
    view.close()


def test_what_a_process_has_in_memory_only_is_not_committed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the next importer leaves in memory that no file keeps: the commit has the hash of the file."""
    before = engine.scene.hash
    made: list[str] = []
    step = engine.scene.step

    def leaving_more(request: Any, **options: Any) -> Any:
        answer = step(request, **options)
        made.append(answer["after"])
        # A datablock that nobody uses is gone when the scene is saved.
        engine.scene.worker().call("test.unused", {}, deadline=30)
        answer["after"] = engine.scene.worker().hash(full=True)
        return answer

    monkeypatch.setattr(engine.scene, "step", leaving_more)
    file = engine.place / "shapes.stl"
    outcome = engine.do("file.import", {"path": str(file), "on_collision": "rename"})
    assert outcome.fingerprint_after == made[0] != before
    assert engine.head().hash_after == engine.full_hash() == made[0]
    other = take_worker(engine.pool, engine.catalogue)
    assert rebuild_commit(other, engine.journal, engine.head().number).hash == made[0]
    other.close()


def test_imports_in_a_row_start_no_more_processes_than_one(engine: Engine, samples: Samples) -> None:
    """The process that imported opens what the next one saves."""
    engine.do("file.import", {"path": str(samples["stl"]), "on_collision": "rename"})
    pids = set[int]()
    for _ in range(4):
        engine.do("file.import", {"path": str(samples["stl"]), "on_collision": "rename"})
        pids.add(engine.scene.worker().profile.pid)
    assert len(pids) == 2


def test_an_import_that_no_other_process_can_open_is_taken_back_and_says_so(
    tmp_path: Path, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> str:
        raise RebuildFailed("the saved scene cannot be opened: the worker raised")

    file = shutil.copy(samples["stl"], tmp_path)
    with Engine(tmp_path) as engine:
        before = engine.full_hash()
        with monkeypatch.context() as patched:
            patched.setattr("blendwright.engine.scene.live_scene.open_scene_file", refuse)
            outcome = engine.call("file.import", {"path": str(file)})
        assert outcome.fault is Fault.EXECUTION_FAILED, "that the way back failed is said only where it did"
        assert "cannot be saved" in outcome.message and engine.full_hash() == before
        assert engine.call("file.import", {"path": str(file)}).ok
