"""Directories of batches that somebody has tampered with, or that hold files of their owner: nothing else is touched."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from blendwright.batch.case_place import CasePlace
from blendwright.batch.coordinator import BatchRun, RunSummary
from blendwright.batch.definition import Batch, BatchSource
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import JobReport
from blendwright.batch.engines.local_pool import LocalPool
from blendwright.batch.locations import open_outputs, open_results
from blendwright.batch.progress import Progress
from blendwright.batch.results import ResultRow
from blendwright.values.errors import EnvironmentUnfit

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


def run(root: Path) -> RunSummary:
    def progress(report: JobReport | None, figures: Progress) -> None: ...

    return BatchRun(BATCH, BatchDirectory(root), LocalPool()).run(None, 1, progress)


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
    with pytest.raises(EnvironmentUnfit, match="a case whose key is none") as refused:
        run(root)
    assert "--out" in str(refused.value.cure)
    assert precious.exists()


def test_no_claimed_case_names_a_directory_to_work_in(root: Path, precious: Path) -> None:
    key = str(precious.parent)
    change(root, "INSERT INTO cases (number, key, params, source) VALUES (7, ?, '{}', '')", key)
    with (
        open_results(str(BatchDirectory(root).results)) as results,
        pytest.raises(EnvironmentUnfit, match="a case whose key is none"),
    ):
        results.claim(key, "a lane")
    with pytest.raises(EnvironmentUnfit, match="a case whose key is none"):
        CasePlace(root / "work", key)
    assert precious.exists()
