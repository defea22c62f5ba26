"""The table of results in PostgreSQL: what claims and fences decide, and that a restart of the server changes nothing of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.results.table import Claim, Counts, ResultRow
from blendwright.fleet.database import Database
from blendwright.fleet.results import MAX_DEFINITION_BYTES, PostgresResults
from blendwright.values.errors import EnvironmentUnfit, Refusal
from fleet.cluster import Cluster

BATCH = Batch(BatchSource("prop.star", "x = 1"), (Output("glb", "scene.glb"),), "f" * 64, "5.2.3")
OUTPUTS = "memory://results"


@pytest.fixture
def results(database: Database) -> PostgresResults:
    results = PostgresResults(database, OUTPUTS)
    results.begin(BATCH)
    return results


def seeds(*numbers: float) -> list[tuple[dict[str, Any], str]]:
    return [({"seed": number}, f"table.csv:{number}") for number in numbers]


def claimed(results: PostgresResults, number: int) -> Claim:
    case = next(case for case in results.open_cases(BATCH.id) if case.number == number)
    claim = results.claim(case.key, "machine:1")
    assert claim is not None
    return claim


def row(claim: Claim, status: Any = "done") -> ResultRow:
    return ResultRow(claim.case.number, claim.case.key, claim.case.params, status, scene_hash="a" * 64)


def test_a_definition_comes_back_as_it_was_and_the_latest_is_found_without_its_name(results: PostgresResults) -> None:
    other = replace(BATCH, blender_version="5.0.1")
    results.begin(other)
    assert results.batch() == other
    results.begin(BATCH)
    assert (results.batch(), results.batch(other.id), results.batch("nobody")) == (BATCH, other, None)


def test_a_definition_that_is_too_large_to_travel_is_refused(results: PostgresResults) -> None:
    large = replace(BATCH, source=BatchSource("large.star", "#" * MAX_DEFINITION_BYTES))
    with pytest.raises(Refusal, match="the limit is"):
        results.begin(large)
    assert results.batch(large.id) is None


def test_equal_rows_are_one_case_and_known_ones_keep_their_number(results: PostgresResults) -> None:
    assert results.add(BATCH, seeds(5, 7, 5)) == 2
    assert results.add(BATCH, seeds(7, 9)) == 1
    assert [(case.number, case.params["seed"]) for case in results.open_cases(BATCH.id)] == [(0, 5), (1, 7), (2, 9)]


@pytest.mark.parametrize("clear_members", [True, False])
def test_rows_that_left_the_table_leave_the_batch_and_keep_what_they_became(
    results: PostgresResults, clear_members: bool
) -> None:
    results.add(BATCH, seeds(1, 2))
    claim = claimed(results, 0)
    results.publish(row(claim), claim.fence)
    results.begin(BATCH, clear_members=clear_members)
    results.add(BATCH, seeds(2, 3))
    if not clear_members:
        # Until then nobody who looks sees fewer cases than there are.
        assert results.counts(BATCH.id).total == 3
        results.leave_out_others(BATCH.id)
    assert [case.params["seed"] for case in results.open_cases(BATCH.id)] == [2, 3]
    assert results.counts(BATCH.id) == Counts(waiting=2)
    assert [found.params["seed"] for found in results.rows()] == [1]


def test_parameters_come_back_to_the_digit(results: PostgresResults) -> None:
    given: dict[str, Any] = {
        "large": 1e22,
        "small": 0.1 + 0.2,
        "whole": 1.0,
        "text": "é\u2028'",
        "list": [1, [2.5, None]],
    }
    results.add(BATCH, [(given, "")])
    found = next(results.open_cases(BATCH.id))
    assert found.params == given
    assert BATCH.case(0, found.params).key == found.key


def test_only_the_newest_claim_publishes_and_only_once(results: PostgresResults) -> None:
    results.add(BATCH, seeds(1))
    old = claimed(results, 0)
    new = claimed(results, 0)
    assert (old.fence, new.fence) == (1, 2)
    assert not results.publish(row(old), old.fence)
    assert (results.holds(old.case.key, old.fence), results.holds(old.case.key, new.fence)) == (False, True)
    assert results.publish(row(new), new.fence)
    assert not results.publish(row(new, "failed"), new.fence)
    assert results.claim(new.case.key, "machine:3") is None
    assert [found.status for found in results.rows(BATCH.id)] == ["done"]


def test_a_case_that_was_given_back_waits_and_its_attempt_does_not_count(results: PostgresResults) -> None:
    results.add(BATCH, seeds(1))
    claim = claimed(results, 0)
    assert results.give_back(claim.case.key, claim.fence)
    assert not results.give_back(claim.case.key, claim.fence)
    assert results.counts(BATCH.id) == Counts(waiting=1)
    assert claimed(results, 0).attempts == 1


def test_failed_cases_are_tried_again_when_that_is_asked_for(results: PostgresResults) -> None:
    results.add(BATCH, seeds(1, 2))
    for number, status in ((0, "failed"), (1, "done")):
        claim = claimed(results, number)
        assert results.publish(row(claim, status), claim.fence)
    assert results.retry_failed(BATCH.id) == 1
    assert results.counts(BATCH.id) == Counts(waiting=1, done=1)
    assert claimed(results, 0).fence == 2


def test_a_place_for_outputs_has_results_of_its_own(results: PostgresResults, database: Database) -> None:
    results.add(BATCH, seeds(1))
    claim = claimed(results, 0)
    results.publish(row(claim), claim.fence)
    elsewhere = PostgresResults(database, "memory://elsewhere")
    elsewhere.begin(BATCH)
    assert elsewhere.add(BATCH, seeds(1)) == 1
    assert elsewhere.counts(BATCH.id) == Counts(waiting=1)
    assert results.counts(BATCH.id) == Counts(done=1)


def test_a_case_is_found_by_number_and_by_the_beginning_of_its_key(results: PostgresResults) -> None:
    results.add(BATCH, seeds(1))
    claim = claimed(results, 0)
    found = results.standing(0)
    assert found is not None
    assert (found.status, found.worker, found.fence) == ("running", "machine:1", 1)
    assert results.standing(claim.case.key[:12]) == found
    assert results.standing(17) is None


def test_a_crash_of_the_server_loses_nothing_that_was_answered(results: PostgresResults, cluster: Cluster) -> None:
    results.add(BATCH, seeds(1, 2))
    first = claimed(results, 0)
    assert results.publish(row(first), first.fence)
    cluster.stop("QUIT")
    cluster.start()
    assert results.counts(BATCH.id) == Counts(waiting=1, done=1)
    second = claimed(results, 1)
    assert results.publish(row(second), second.fence)


def test_a_row_whose_answer_got_lost_counts_when_it_is_published_again(
    results: PostgresResults, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    results.add(BATCH, seeds(1))
    claim = claimed(results, 0)
    run = database.run

    def run_twice(work: Any) -> Any:
        # As after a connection that ended between the commit and its answer.
        run(work)
        return run(work)

    monkeypatch.setattr(database, "run", run_twice)
    assert results.publish(row(claim), claim.fence)


def test_a_database_that_does_not_answer_is_told_without_its_password(cluster: Cluster) -> None:
    from blendwright.fleet.address import Address

    wrong = cluster.url().replace(cluster.password, "another-secret")
    with pytest.raises(EnvironmentUnfit) as told:
        Database(Address("postgres://postgres@127.0.0.1/postgres", wrong)).open()
    assert "password authentication failed" in told.value.message
    assert "another-secret" not in f"{told.value.message} {told.value.cure} {told.value.__cause__}"
