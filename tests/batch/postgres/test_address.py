"""Addresses of databases: what is shown of one, and where one with a password may come from."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from blendwright.batch.engines.engine import Job
from blendwright.fleet.address import VARIABLE, read_address
from blendwright.fleet.job_queue import MAX_CASES_PER_JOB, TARGET_JOBS, CaseJob, cases_per_job
from blendwright.fleet.requests import check_outputs, use_address
from blendwright.values.errors import EnvironmentUnfit, Refusal
from support.processes.shell import Shell

SECRET = "hush-hush"
WITH_PASSWORD = f"postgres://ann:{SECRET}@db.example:5433/farm?sslmode=require"


@pytest.fixture(autouse=True)
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_password_comes_from_the_environment_and_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, WITH_PASSWORD)
    for given in (None, "env"):
        address = read_address(given)
        assert address.conninfo == WITH_PASSWORD
        assert str(address) == "postgres://ann@db.example:5433/farm"
        assert SECRET not in f"{address} {address!r}"


@pytest.mark.parametrize(
    "given", [WITH_PASSWORD, f"postgres://ann@db.example/farm?password={SECRET}", f"postgres://ann:{SECRET}@[broken"]
)
def test_a_password_on_the_command_line_is_refused_without_repeating_it(given: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_address(given)
    assert SECRET not in f"{refused.value.message} {refused.value.cure} {refused.value.__cause__}"


def test_an_address_without_a_password_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, WITH_PASSWORD)
    assert str(read_address("postgres://bob@other/farm")) == "postgres://bob@other/farm"
    assert str(read_address("postgresql:///farm")) == "postgres://local socket/farm"


@pytest.mark.parametrize("given", [None, "env", "http://db.example", "ray://head", "farm"])
def test_what_is_no_address_is_refused_with_an_example(given: str | None) -> None:
    with pytest.raises(Refusal) as refused:
        read_address(given)
    assert "postgres://user@host/database" in (refused.value.cure or "")


def test_processes_that_are_started_here_find_the_address_in_their_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    use_address("postgres://bob@other/farm")
    assert os.environ[VARIABLE] == "postgres://bob@other/farm"


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(EnvironmentUnfit) as told:
        use_address("postgres://bob@other/farm")
    assert told.value.cure == "Install it: pip install 'blendwright[fleet]'"
    ran = Shell(tmp_path)("worker", "--engine", "postgres://bob@other/farm", "--work", str(tmp_path / "w"), code=3)
    assert "blendwright[fleet]" in ran.err


@pytest.mark.parametrize("place", ["shots", "/mnt/share"])
def test_outputs_of_a_fleet_are_where_every_machine_finds_them(place: str) -> None:
    with pytest.raises(Refusal, match="a path on this machine"):
        check_outputs(place)
    assert check_outputs("file:///mnt/share/") == "file:///mnt/share"


def test_a_small_batch_is_cut_fine_and_a_large_one_coarsely() -> None:
    assert [cases_per_job(cases) for cases in (0, 1, TARGET_JOBS, 3 * TARGET_JOBS, 10_000_000)] == [
        1,
        1,
        1,
        3,
        MAX_CASES_PER_JOB,
    ]


def test_a_job_says_what_is_left_of_it() -> None:
    job = CaseJob("memory://x", tuple(Job("batch", f"key-{number}") for number in range(3)))
    assert CaseJob.from_json(job.to_json()) == job
    assert [left.case for left in job.without(2).jobs] == ["key-2"]


UNSOUND: tuple[dict[str, Any], ...] = (
        {}, {"outputs": "memory://x"}, {"outputs": 5, "jobs": []}, {"outputs": "memory://x", "jobs": 5},
        {"outputs": "memory://x", "jobs": [{"batch": "b", "case": 5, "prefixes": []}]},
        {"outputs": "memory://x", "jobs": [{"batch": 5, "case": "k", "prefixes": []}]},
        {"outputs": "memory://x", "jobs": [{"batch": "b", "case": "k"}]},
        {"outputs": "memory://x", "jobs": [{"batch": "b", "case": "k", "prefixes": [["one", "h"]]}]},
        {"outputs": "memory://x", "jobs": [{"batch": "b", "case": "k", "prefixes": [1]}]},
        {"outputs": "memory://x", "jobs": ["k"]},
)  # fmt: skip


@pytest.mark.parametrize("said", UNSOUND)
def test_a_job_that_is_not_sound_is_refused(said: Any) -> None:
    with pytest.raises(Refusal, match="an invalid job in the queue"):
        CaseJob.from_json(said)
