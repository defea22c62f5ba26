"""Shaders for the first picture of a worker: who makes them, who gets them, and what is not relied on."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.blender.shader_cache import unpack
from blendwright.bridge import shader_cache
from blendwright.bridge.pool import Pool
from blendwright.bridge.shader_cache import picture_requests
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.values.errors import WorkerLost
from blendwright.wire.worker_environment import SHADERS, cache_directory

BLENDER = PythonEnvironment()
COMMAND = BLENDER.command([])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a user who never took a picture."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "blendwright" / "shaders"


@pytest.fixture
def pool(tmp_path: Path, cache: Path) -> Iterator[Pool]:
    with BLENDER.open_pool(WorkerSettings(tmp_path / "scratch"), spares=1) as pool:
        yield pool


def keep(cache: Path, name: str = "mesa_shader_cache/aa/bb") -> Path:
    """Something for the workers of this environment."""
    packed = cache.parents[1] / "packed"
    (packed / name).parent.mkdir(parents=True)
    (packed / name).write_bytes(b"compiled")
    file = shader_cache._place(COMMAND)  # pyright: ignore[reportPrivateUsage]
    assert file is not None
    shader_cache._keep(file, packed)  # pyright: ignore[reportPrivateUsage]
    return file


def test_shaders_of_the_first_picture_are_there_for_the_next_worker(tmp_path: Path, cache: Path) -> None:
    def picture() -> set[str]:
        """What the driver has for it, found or compiled."""
        with BLENDER.open_pool(WorkerSettings(tmp_path / "scratch"), spares=0) as pool:
            worker = pool.take()
            assert all(worker.step(request, deadline=60)["ok"] for request in picture_requests())
            own = cache_directory(worker.scratch)
            return {str(file.relative_to(own)) for file in own.glob("mesa_shader_cache*/*/*")}

    compiled = picture()
    if not compiled:
        pytest.skip("the driver of this machine has a cache of another kind")
    file = shader_cache.kept(COMMAND)
    assert file is not None
    with tarfile.open(file, "a") as packed:
        assert set(packed.getnames()) == compiled
        packed.addfile(tarfile.TarInfo("mesa_shader_cache/zz/of-nobody"))
    again = picture()
    assert again >= {*compiled, "mesa_shader_cache/zz/of-nobody"}
    # Mesa's software renderer makes one more, for smooth edges, once it has the others from its cache.
    assert len(again) <= len(compiled) + 2


def test_a_worker_that_had_a_scene_gives_none(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    made_by: list[Any] = []

    def prepare(command: Any, worker: Any) -> None:
        made_by.append(worker)

    monkeypatch.setattr(shader_cache, "prepare", prepare)
    worker = pool.take()
    (cache_directory(worker.scratch) / "mesa_shader_cache").mkdir(parents=True)
    pool.close()
    (other,) = made_by
    assert other is not worker and other.pid != worker.pid


def test_nothing_is_made_where_nobody_draws(pool: Pool, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(shader_cache, "prepare", prepare)
    pool.take()
    pool.close()
    assert shader_cache.kept(COMMAND) is None and not cache.exists()


def test_whoever_keeps_a_spare_has_them_made_once(pool: Pool, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def prepare(command: Any, worker: Any) -> None:
        made.append(command)
        keep(cache)

    monkeypatch.setattr(shader_cache, "prepare", prepare)
    pool.warm()
    pool.take()
    pool.warm()
    assert pool._preparing is not None  # pyright: ignore[reportPrivateUsage]
    pool._preparing.join(60)  # pyright: ignore[reportPrivateUsage]
    assert made == [COMMAND]
    (cache_directory(pool.take().scratch) / "mesa_shader_cache").mkdir(parents=True, exist_ok=True)
    pool.close()
    assert made == [COMMAND], "they are kept already"


def test_where_no_picture_can_be_taken_it_is_not_tried_again(cache: Path, tmp_path: Path) -> None:
    class Blind:
        scratch = tmp_path

        def step(self, request: Any, *, deadline: float) -> dict[str, Any]:
            return {"ok": False}

    blind: Any = Blind()
    shader_cache.prepare(COMMAND, blind)
    file = shader_cache.kept(COMMAND)
    assert file is not None
    with tarfile.open(file) as packed:
        assert packed.getnames() == []


def test_a_worker_that_is_lost_says_nothing(cache: Path) -> None:
    class Lost:
        def step(self, request: Any, *, deadline: float) -> dict[str, Any]:
            raise WorkerLost("killed")

    lost: Any = Lost()
    shader_cache.prepare(COMMAND, lost)
    assert shader_cache.kept(COMMAND) is None


def test_what_is_kept_is_copied(cache: Path, tmp_path: Path) -> None:
    file = keep(cache)
    shader_cache.hand_over(COMMAND, tmp_path / "own")
    copy = tmp_path / "own" / SHADERS
    assert copy.read_bytes() == file.read_bytes() and copy.stat().st_ino != file.stat().st_ino
    shader_cache.hand_over(["another Blender"], tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("spoil", ["of others", "old"])
def test_what_others_can_write_and_what_is_old_is_not_relied_on(cache: Path, tmp_path: Path, spoil: str) -> None:
    file = keep(cache)
    assert shader_cache.kept(COMMAND) == file
    if spoil == "of others":
        file.chmod(0o666)
    else:
        long_ago = file.stat().st_mtime - shader_cache.DAYS * 86400 - 60
        os.utime(file, (long_ago, long_ago))
    assert shader_cache.kept(COMMAND) is None
    shader_cache.hand_over(COMMAND, tmp_path / "own")
    assert not (tmp_path / "own").exists()


@pytest.mark.parametrize("given", [b"no archive", None, b""], ids=["damaged", "cut off", "empty"])
def test_a_worker_leaves_what_is_no_archive(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bytes | None
) -> None:
    content = keep(cache).read_bytes()[:700] if given is None else given
    own = tmp_path / "own"
    (own / SHADERS).parent.mkdir(parents=True)
    (own / SHADERS).write_bytes(content)
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    unpack.__wrapped__()
    assert not (own / "mesa_shader_cache" / "aa" / "bb").exists()
