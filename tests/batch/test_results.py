"""What counts: claims and fences, whoever runs a job how often."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from blendwright.batch.definition import Batch, BatchSource
from blendwright.batch.results.sqlite import SqliteResults
from blendwright.batch.results.table import Claim, Counts, ResultRow
from blendwright.values.errors import EnvironmentUnfit, JournalError

BATCH = Batch(BatchSource("p.star", "x = 1"), (), "registry", "5.2.3")


@pytest.fixture
def results(tmp_path: Path) -> Iterator[SqliteResults]:
    with SqliteResults(tmp_path / "results.db") as table:
        table.begin(BATCH)
        table.add(BATCH, [({"seed": seed}, f"t.csv:{seed + 2}") for seed in range(3)])
        yield table


def key(seed: int) -> str:
    return BATCH.case(0, {"seed": seed}).key


def claimed(results: SqliteResults, seed: int, worker: str = "w") -> Claim:
    claim = results.claim(key(seed), worker)
    assert claim is not None
    return claim


def row(claim: Claim, **changes: object) -> ResultRow:
    made = ResultRow(
        claim.case.number, claim.case.key, claim.case.params, "done", "bw3:hash", "cases/0", finished="now"
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_table_that_is_damaged_or_of_another_version_is_refused_by_its_own_name(tmp_path: Path) -> None:
    damaged, newer = tmp_path / "damaged.db", tmp_path / "newer.db"
    damaged.write_bytes(b"no database at all" * 100)
    with pytest.raises(JournalError, match=r"damaged\.db is damaged") as refused:
        SqliteResults(damaged)
    assert "journal.db" not in refused.value.message and "--out" in str(refused.value.cure)
    SqliteResults(newer).close()
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(EnvironmentUnfit, match="schema version 2"):
        SqliteResults(newer)


def test_cases_are_numbered_in_the_order_of_their_rows(results: SqliteResults) -> None:
    cases = list(results.open_cases(BATCH.id))
    assert [(case.number, case.params, case.source) for case in cases] == [
        (0, {"seed": 0}, "t.csv:2"),
        (1, {"seed": 1}, "t.csv:3"),
        (2, {"seed": 2}, "t.csv:4"),
    ]


def test_a_changed_table_adds_only_what_is_new(results: SqliteResults) -> None:
    assert results.publish(row(claimed(results, 1)), 1)
    assert results.add(BATCH, [({"seed": seed}, "") for seed in (9, 1, 0, 9)]) == 1
    assert [case.params["seed"] for case in results.open_cases(BATCH.id)] == [0, 2, 9]
    assert results.counts(BATCH.id) == Counts(waiting=3, done=1)


def test_rows_that_are_not_in_the_table_any_more_do_not_belong_to_the_batch(results: SqliteResults) -> None:
    claim = claimed(results, 1)
    assert results.publish(row(claim), claim.fence)
    results.begin(BATCH, clear_members=True)
    assert results.add(BATCH, [({"seed": seed}, "") for seed in (1, 2)]) == 0
    assert results.counts(BATCH.id) == Counts(waiting=1, done=1)
    assert results.standing(0) is not None


def test_another_program_has_cases_of_its_own_with_numbers_of_their_own(results: SqliteResults) -> None:
    other = replace(BATCH, source=BatchSource("p.star", "x = 2"))
    results.begin(other)
    assert results.add(other, [({"seed": 0}, "")]) == 1
    assert [case.number for case in results.open_cases(other.id)] == [3]
    assert results.counts(BATCH.id).total == 3
    latest = results.batch()
    assert latest is not None
    assert latest.id == other.id
    results.begin(BATCH)
    assert results.batch() == BATCH


def test_fences_only_grow_and_only_the_newest_counts(results: SqliteResults) -> None:
    first, second = claimed(results, 0, "dead"), claimed(results, 0, "alive")
    assert (first.fence, second.fence, second.attempts) == (1, 2, 2)
    assert not results.holds(key(0), first.fence)
    assert not results.publish(row(first, scene_hash="late"), first.fence)
    assert results.publish(row(second), second.fence)
    assert [each.scene_hash for each in results.rows(BATCH.id)] == ["bw3:hash"]


def test_a_finished_case_is_claimed_and_published_by_nobody(results: SqliteResults) -> None:
    claim = claimed(results, 0)
    assert results.publish(row(claim), claim.fence)
    assert results.claim(key(0), "w") is None
    assert not results.publish(row(claim, status="failed"), claim.fence)
    assert not results.give_back(key(0), claim.fence)
    assert results.counts(BATCH.id).done == 1


def test_a_row_without_a_claim_counts_for_nothing(results: SqliteResults) -> None:
    claim = claimed(results, 0)
    assert results.give_back(key(0), claim.fence)
    assert not results.publish(row(claim), claim.fence)
    assert results.counts(BATCH.id) == Counts(waiting=3)


def test_giving_back_counts_no_attempt_and_keeps_the_fence(results: SqliteResults) -> None:
    assert results.give_back(key(0), claimed(results, 0).fence)
    again = claimed(results, 0)
    assert (again.fence, again.attempts) == (2, 1)
    assert not results.give_back(key(0), 1)


def test_failed_cases_wait_again_when_that_is_asked_for(results: SqliteResults) -> None:
    for seed, status in ((0, "failed"), (1, "done")):
        claim = claimed(results, seed)
        assert results.publish(row(claim, status=status), claim.fence)
    assert results.claim(key(0), "w") is None
    assert results.retry_failed(BATCH.id) == 1
    again = claimed(results, 0)
    assert (again.fence, again.attempts) == (2, 1)
    assert [each.number for each in results.rows(BATCH.id)] == [1]


def test_a_case_is_found_by_number_and_by_the_beginning_of_its_key(results: SqliteResults) -> None:
    claim = claimed(results, 2)
    assert results.publish(row(claim), claim.fence)
    by_number, by_key = results.standing(2), results.standing(key(2)[:12])
    assert by_number == by_key
    assert by_number is not None
    assert by_number.row == row(claim)
    assert results.standing(7) is None
    assert results.standing("zz") is None


def test_two_processes_see_each_other(tmp_path: Path, results: SqliteResults) -> None:
    with SqliteResults(tmp_path / "results.db") as other:
        mine = claimed(results, 0)
        theirs = other.claim(key(0), "other")
        assert theirs is not None
        assert theirs.fence == mine.fence + 1
        assert not results.publish(row(mine), mine.fence)
        assert other.publish(row(theirs), theirs.fence)
        assert results.counts(BATCH.id).done == 1
