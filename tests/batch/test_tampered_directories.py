"""Directories of batches that somebody has tampered with, or that hold files of their owner: nothing else is touched."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from blendwright.batch.cases.case_workspace import CaseDirectory
from blendwright.batch.coordinator import BatchRun, RunSummary
from blendwright.batch.definition import Batch, BatchSource
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import JobReport
from blendwright.batch.engines.local_pool import LocalPool
from blendwright.batch.input.tables import Row
from blendwright.batch.outputs.locations import open_outputs, open_results
from blendwright.batch.progress import Progress
from blendwright.batch.results.table import ResultRow
from blendwright.values.errors import EnvironmentUnfit, Refusal

BATCH = Batch(BatchSource("p.star", "x = 1"), (), "registry", "5.2.3")
KEY = BATCH.case(0, {}).key


def publish(root: Path, name: str = "000000", key: str = KEY) -> str:
    staged = root / "staged"
    staged.mkdir(parents=True)
    (staged / "scene.glb").write_text("a scene")
    outputs = open_outputs(str(root))
    outputs.publish(staged, name, key, "bw3:hash")
    return outputs.location(name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Of a batch whose only case is done: nothing is left to be run."""
    root = tmp_path / "out"
    with open_results(str(BatchDirectory(root).results)) as results:
        results.begin(BATCH)
        results.add(BATCH, [({}, "")])
        claim = results.claim(KEY, "a lane")
        assert claim is not None
        assert results.publish(ResultRow(0, KEY, {}, "done", "bw3:hash", publish(root)), claim.fence)
    return root


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A file of the user, in a directory with names that a batch uses."""
    file = tmp_path / "home" / "thesis.txt"
    file.parent.mkdir()
    file.write_text("of years")
    return file


def ignore(report: JobReport | None, progress: Progress) -> None: ...


def run(root: Path) -> RunSummary:
    return BatchRun(BATCH, BatchDirectory(root), LocalPool()).run(None, 1, ignore)


def change(root: Path, sql: str, *bindings: object) -> None:
    with closing(sqlite3.connect(BatchDirectory(root).results)) as connection:
        connection.execute(sql, bindings)
        connection.commit()


def insert_row(root: Path, key: str) -> None:
    with open_results(str(BatchDirectory(root).results)) as results:
        (row,) = results.rows()
    document = json.dumps({**row.to_json(), "key": key})
    change(
        root,
        "INSERT INTO cases (number, key, params, source, status, row) VALUES (7, 'z', '{}', '', 'done', ?)",
        document,
    )


@pytest.mark.parametrize("key", ["{home}", "../../../home", "..", "", KEY.upper(), KEY + "\n"])
def test_no_row_names_a_directory_to_remove(root: Path, precious: Path, key: str) -> None:
    insert_row(root, key.format(home=precious.parent))
    with pytest.raises(EnvironmentUnfit, match="a case with the invalid key") as refused:
        run(root)
    assert "--out" in str(refused.value.cure)
    assert precious.exists()


def test_no_claimed_case_names_a_directory_to_work_in(root: Path, precious: Path) -> None:
    key = str(precious.parent)
    change(root, "INSERT INTO cases (number, key, params, source) VALUES (7, ?, '{}', '')", key)
    with (
        open_results(str(BatchDirectory(root).results)) as results,
        pytest.raises(EnvironmentUnfit, match="a case with the invalid key"),
    ):
        results.claim(key, "a lane")
    with pytest.raises(EnvironmentUnfit, match="a case with the invalid key"):
        CaseDirectory(root / "work", key)
    assert precious.exists()


@pytest.mark.parametrize(
    "name", ["work", "cases", "work/cases", "work/staging", "work/lanes.log", "results.db", ".results.csv.part"]
)
def test_a_directory_with_links_of_others_is_refused(root: Path, precious: Path, name: str) -> None:
    for below in ("staging", "scratch", "prefixes", "cases", "111111"):
        (precious.parent / below).mkdir()
        (precious.parent / below / "mine").touch()
    before = sorted(precious.parent.rglob("*"))
    if (root / name).exists():
        (root / name).rename(root.parent / "aside")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(precious if "." in name else precious.parent)
    with pytest.raises(EnvironmentUnfit, match="is a symbolic link") as refused:
        run(root)
    assert f"{root / name}" in refused.value.message and "--out" in str(refused.value.cure)
    assert sorted(precious.parent.rglob("*")) == before and precious.read_text() == "of years"


def test_removing_follows_no_link_that_was_put_there_since(root: Path, precious: Path) -> None:
    (precious.parent / "000000").mkdir()
    outputs = open_outputs(str(root))
    place = CaseDirectory(root / "work", KEY)
    place.prepare()
    for name in ("cases", "work/cases"):
        (root / name).rename(root.parent / f"aside-{name[:4]}")
        (root / name).symlink_to(precious.parent)
    (precious.parent / KEY[:32]).mkdir()
    before = sorted(precious.parent.rglob("*"))
    place.remove()
    with pytest.raises(OSError, match="has become a link"):
        outputs.remove("000000")
    assert sorted(precious.parent.rglob("*")) == before


def test_a_workspace_that_is_a_link_is_not_gone_on_with(root: Path, precious: Path) -> None:
    place = CaseDirectory(root / "work", KEY)
    place.prepare()
    place.workspace.symlink_to(precious.parent)
    place.prepare()
    assert not place.workspace.is_symlink() and precious.exists()


def test_what_no_case_has_published_is_not_swept(root: Path) -> None:
    own = [root / "cases" / name for name in ("20240101", "000000-3", "000000-4", "000000-5")]
    for directory, manifest in zip(
        own, (None, "[]", '{"key": "*"}', '{"key": "*", "scene_hash": "", "files": {}}'), strict=True
    ):
        directory.mkdir()
        (directory / "court.pdf").touch()
        if manifest is not None:
            (directory / "manifest.json").write_text(manifest)
    publish(root, "000001")  # of another number than its key
    publish(root, "000000-6", "0" * 64)  # of another table
    publish(root, "000000-2")
    run(root)
    left = sorted(path.name for path in (root / "cases").iterdir())
    assert left == sorted(["000000", "000001", "000000-6", *(path.name for path in own)])


def test_cases_without_a_table_of_results_are_left_alone(root: Path) -> None:
    BatchDirectory(root).results.unlink()
    before = sorted(root.rglob("*"))
    with pytest.raises(Refusal, match=r"results\.db is missing"):
        run(root)
    assert sorted(root.rglob("*")) == before


def test_adding_rows_without_end_is_stopped_when_asked(tmp_path: Path) -> None:
    stopping = BatchRun(BATCH, BatchDirectory(tmp_path / "out"), LocalPool())

    def rows() -> Iterator[Row]:
        for number in count():
            if number == 1500:
                stopping.stop()
            assert number < 3000, "it goes on"
            yield {"number": number}, ""

    summary = stopping.run(rows(), 1, ignore)
    assert (summary.added, summary.stopped) == (1500, True)
