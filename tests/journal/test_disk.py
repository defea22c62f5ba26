"""A disk that refuses: at every write and sync, at every named point, and when it is full. Nothing is committed half."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal, store
from blendwright.util import crash_points
from blendwright.values.errors import EnvironmentUnfit, JournalError
from journal import crash_point_names
from journal.ledger import assert_sound, begun, chain, operation, saved, wanted

TESTS = Path(__file__).parents[1]


class Refusal:
    """Refuses the nth write or sync from now on, as a full disk or a broken one."""

    def __init__(self) -> None:
        self.left = -1
        self.error: type[apsw.Error] = apsw.FullError

    def step(self) -> None:
        if self.left > 0:
            self.left -= 1
            if self.left == 0:
                # A disk that has failed once goes on failing.
                self.left = 1
                raise self.error("the test's disk refuses")


class _File(apsw.VFSFile):
    def __init__(self, refusal: Refusal, name: Any, flags: Any) -> None:
        super().__init__("", name, flags)
        self._refusal = refusal

    def xWrite(self, data: Any, offset: int) -> None:
        self._refusal.step()
        inner: Any = super()
        inner.xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._refusal.step()
        super().xSync(flags)


class _Disk(apsw.VFS):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__("refusing", "")
        self._refusal = refusal

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self._refusal, name, flags)


@pytest.fixture
def refusal() -> Generator[Refusal]:
    refusal = Refusal()
    disk = _Disk(refusal)
    yield refusal
    disk.unregister()


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
@pytest.mark.parametrize("nth", range(1, 40))
def test_a_commit_that_the_disk_refuses_is_not_acknowledged_and_not_half_there(
    tmp_path: Path, refusal: Refusal, nth: int, error: type[apsw.Error]
) -> None:
    begun(tmp_path, ["a"]).close()
    journal = Journal(tmp_path, vfs="refusing")
    batch = [*chain([f"b{n}" for n in range(20)], "scene-a")]
    refusal.error, refusal.left = error, nth
    acknowledged = False
    try:
        journal.commit(batch)
        acknowledged = True
    except EnvironmentUnfit as refused:
        assert refused.cure is not None
        refusal.left = -1
        with pytest.raises(JournalError, match="content of the journal is uncertain"):
            journal.commit(batch)
    refusal.left = -1
    journal.close()
    assert not acknowledged or nth > 10, "a batch of 20 takes more writes than that"

    journal = Journal(tmp_path)
    places = {found.where for found in journal.find_many([wanted(f"b{n}") for n in range(20)])}
    assert len(places) == 1, "all or nothing"
    assert places == {"ancestor"} or not acknowledged
    if places == {"nowhere"}:
        journal.commit(batch)
    journal.close()
    assert_sound(tmp_path)


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError])
def test_a_journal_that_the_disk_refuses_to_begin_says_so_though_closing_it_fails_too(
    tmp_path: Path, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, error: type[apsw.Error]
) -> None:
    def refuse(directory: Path) -> None:
        refusal.error, refusal.left = error, 1
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "sync_directory", refuse)
    with pytest.raises(EnvironmentUnfit, match="no room on the disk"):
        Journal(tmp_path, vfs="refusing")


def _points() -> list[str]:
    places = ("begun", "before_commit")
    return [
        *(f"{name}.{place}" for name in ("commit", "head", "checkpoint_row") for place in places),
        *(point for point in crash_point_names.INSIDE if point.startswith("commit.")),
        *(
            point
            for point in crash_point_names.FILES
            if point.startswith("checkpoint.") and not point.endswith("durable")
        ),
    ]


@pytest.mark.parametrize("point", _points())
def test_an_error_of_the_system_at_a_named_point_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    journal = begun(tmp_path, ["a", "b"])
    staged = journal.checkpoints.stage(saved(tmp_path, "b"), "scene-b")
    before = journal.log(), journal.moves(), journal.audit.records()

    def refuse(name: str) -> None:
        if name == point:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(crash_points, "reach", refuse)
    with pytest.raises(EnvironmentUnfit, match="no room on the disk"):
        journal.checkpoints.add(staged, 3)
        journal.move_head("undo", 2)
        journal.move_head("redo", 3)
        late = journal.checkpoints.stage(saved(tmp_path, "d"), "scene-d")
        journal.commit(
            [*chain(["c"], "scene-b"), operation("d", "scene-c", "scene-d", replayable=False, checkpoint=late)]
        )
    monkeypatch.undo()
    journal.close()
    journal = Journal(tmp_path)
    assert journal.log() == before[0]
    assert not list((tmp_path / "checkpoints").glob("*.part"))
    journal.close()
    assert_sound(tmp_path)


LIMITED = """
import pathlib, resource, sys
from blendwright.journal import Journal
from blendwright.values.errors import BlendwrightError
from journal.ledger import begun, chain, saved

workspace = pathlib.Path(sys.argv[1])
journal = begun(workspace)
big = workspace / "big.saved"
big.write_bytes(bytes(3_000_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    journal.checkpoints.stage(big, "x")
except BlendwrightError as error:
    print(type(error).__name__, error.message, flush=True)
scene, done = "scene-0", 0
try:
    while True:
        names = [f"n{n}" for n in range(done, done + 50)]
        journal.commit(chain(names, scene))
        done += 50
        scene = f"scene-{names[-1]}"
        print("acknowledged", done, flush=True)
except BlendwrightError as error:
    print(type(error).__name__, error.message, flush=True)
"""


def test_a_file_that_may_not_grow_ends_in_a_clear_error_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60)
    staging, *acknowledged, refused = done.stdout.splitlines()
    assert staging.startswith("EnvironmentUnfit saving a checkpoint") and "no room on the disk" in staging
    assert refused.startswith("EnvironmentUnfit writing") and "the disk refuses" in refused
    journal = Journal(tmp_path)
    count = int(acknowledged[-1].split()[1])
    head = journal.head
    assert head is not None and (head.number - 1) % 50 == 0 and head.number - 1 >= count
    assert list((tmp_path / "checkpoints").iterdir()) == []
    journal.commit(chain(["after"], head.hash_after))
    journal.close()
    assert_sound(tmp_path)
