"""What is removed of a place of outputs when the last case is done: attempts of this very table that can never count, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.outputs.store import attempt_name
from blendwright.batch.results.sqlite import SqliteResults
from blendwright.batch.results.table import Claim, ResultRow, ResultsTable
from blendwright.fleet.submission import remove_stale_outputs

BATCH = Batch(BatchSource("prop.star", "x = 1"), (Output("glb", "scene.glb"),), "f" * 64, "5.2.3")
OTHERS = "1" * 64


@pytest.fixture
def outputs(tmp_path: Path) -> FsspecOutputs:
    return FsspecOutputs(f"file://{tmp_path / 'place'}")


@pytest.fixture
def results(tmp_path: Path) -> Iterator[ResultsTable]:
    with SqliteResults(tmp_path / "results.db") as results:
        results.begin(BATCH)
        results.add(BATCH, [({"seed": 0}, "")])
        yield results


def claimed(results: ResultsTable) -> Claim:
    claim = results.claim(BATCH.case(0, {"seed": 0}).key, "lane")
    assert claim is not None
    return claim


def publish(outputs: FsspecOutputs, place: Path, name: str, key: str) -> None:
    staged = place / f"staged-{name}"
    staged.mkdir()
    (staged / "scene.glb").write_text(name)
    outputs.publish(staged, name, key, "hash")


def finish(results: ResultsTable, outputs: FsspecOutputs, claim: Claim) -> None:
    location = outputs.location(attempt_name(claim.case.number, claim.fence))
    row = ResultRow(claim.case.number, claim.case.key, claim.case.params, "done", "hash", location)
    assert results.publish(row, claim.fence)


def test_attempts_that_were_overtaken_are_removed_and_what_counts_stays(
    results: ResultsTable, outputs: FsspecOutputs, tmp_path: Path
) -> None:
    first, second, third = claimed(results), claimed(results), claimed(results)
    publish(outputs, tmp_path, "000000", first.case.key)
    (tmp_path / "place" / "cases" / "000000-2").mkdir()  # cut off before its manifest
    publish(outputs, tmp_path, "000000-3", third.case.key)
    assert second.fence == 2 and remove_stale_outputs(results, outputs) == 2
    assert list(outputs.attempts()) == ["000000-3"]  # it may still count
    finish(results, outputs, third)
    assert (remove_stale_outputs(results, outputs), list(outputs.attempts())) == (0, ["000000-3"])


def test_cases_of_another_table_under_the_same_numbers_stay(
    results: ResultsTable, outputs: FsspecOutputs, tmp_path: Path
) -> None:
    """As in a place that was used with another database before: its rows name these files."""
    publish(outputs, tmp_path, "000000", OTHERS)
    publish(outputs, tmp_path, "000000-5", OTHERS)
    publish(outputs, tmp_path, "000007", OTHERS)
    claimed(results)
    second = claimed(results)
    publish(outputs, tmp_path, "000000-2", second.case.key)
    finish(results, outputs, second)
    assert remove_stale_outputs(results, outputs) == 0
    assert sorted(outputs.attempts()) == ["000000", "000000-2", "000000-5", "000007"]


@pytest.mark.parametrize("manifest", [None, "[]", "no JSON", '{"key": "*"}'])
def test_what_this_table_gave_to_nobody_stays_whatever_lies_there(
    results: ResultsTable, outputs: FsspecOutputs, tmp_path: Path, manifest: str | None
) -> None:
    claim = claimed(results)
    publish(outputs, tmp_path, "000000", claim.case.key)
    finish(results, outputs, claim)
    theirs = tmp_path / "place" / "cases" / "000000-2"
    theirs.mkdir()
    (theirs / "court.pdf").touch()
    if manifest is not None:
        (theirs / "manifest.json").write_text(manifest)
    assert remove_stale_outputs(results, outputs) == 0 and (theirs / "court.pdf").exists()


def test_a_manifest_that_is_none_of_ours_keeps_what_it_lies_with(
    results: ResultsTable, outputs: FsspecOutputs, tmp_path: Path
) -> None:
    claimed(results)
    claimed(results)
    theirs = tmp_path / "place" / "cases" / "000000"
    theirs.mkdir(parents=True)
    (theirs / "manifest.json").write_text("no JSON")
    assert remove_stale_outputs(results, outputs) == 0 and theirs.exists()
