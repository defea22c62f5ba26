"""What a worker is for works confined: Blender, files in its scratch, renders and exchange formats."""

import os
import sys
from typing import Any

import pytest
from tests.blender.confinement.child import run_main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement exists on Linux only")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("work")
    (directory / "asset.txt").write_text("an asset")
    scratch = directory / "scratch"
    scratch.mkdir()
    reader, writer = os.pipe()
    os.write(writer, b"a request")
    try:
        return run_main("work", scratch, directory / "asset.txt", reader, scratch=scratch, descriptors=(reader,))
    finally:
        os.close(reader)
        os.close(writer)


def test_it_is_fully_confined(done: dict[str, Any]) -> None:
    assert done["account"]["level"] == "full", done["account"]["reason"]


def test_inherited_pipes_stay_open(done: dict[str, Any]) -> None:
    assert done["heard"] == "a request"


def test_paths_named_readable_can_be_read(done: dict[str, Any]) -> None:
    assert done["readable"] == "an asset"


def test_threads_and_numpy_work(done: dict[str, Any]) -> None:
    assert done["thread"] is True
    assert done["numpy"] == 200 * 200


@pytest.mark.parametrize("engine", ["BLENDER_WORKBENCH", "CYCLES"])
def test_engine_renders(engine: str, done: dict[str, Any]) -> None:
    assert done["renders"][engine] > 500


def test_a_blend_file_is_saved_twice_and_opened(done: dict[str, Any]) -> None:
    assert done["opened"] == ["Camera", "Cube"]


@pytest.mark.parametrize("kind", ["glb", "fbx", "obj", "stl", "ply", "usdc", "usdz", "abc"])
def test_format_is_exported_and_imported(kind: str, done: dict[str, Any]) -> None:
    assert done["formats"][kind] == ["MESH"]


def test_files_move_between_directories_of_the_scratch(done: dict[str, Any]) -> None:
    assert done["moved"] == "moved"


def test_what_it_may_read_about_itself_is_held_open(done: dict[str, Any]) -> None:
    """The kernel forgets files of /proc that nobody holds when memory is short, and another inode has no rule that allows it."""
    assert done["held"] == ["maps", "stat", "statm", "status"]
