"""The soak: what it makes of its samples, and a short one on a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from bench.soak.probes import Sample, sample
from bench.soak.report import report, slope, throughput_by_minute
from bench.soak.rests import Rests

ROOT = Path(__file__).parents[2]
FIRST = Sample(0.0, 0, 0, 100.0, 70.0, 20, 8, 2, 300.0, 9, 30, 0.5, 1.0, 0.0)


def hour(**growth: float) -> list[Sample]:
    """A sample for every minute of an hour, with ten operations and five commits in each second; what grows does so evenly."""
    samples: list[Sample] = []
    for minute in range(61):
        grown = {name: getattr(FIRST, name) + more * minute / 60 for name, more in growth.items()}
        samples.append(replace(FIRST, seconds=minute * 60.0, operations=600 * minute, commits=300 * minute, **grown))
    return samples


def test_what_stays_is_steady() -> None:
    found = report(hour(), 60, {}, [])
    assert found["ok"] is True and found["throughput_end_of_beginning"] == 1.0
    assert found["slopes"]["core_mb"] == {
        "mean": 100.0,
        "per_hour": 0.0,
        "percent_per_hour": 0.0,
        "per_1000_commits": 0.0,
    }


@pytest.mark.parametrize("name", ["core_mb", "core_anonymous_mb", "worker_mb", "core_descriptors", "scratch_entries"])
def test_what_grows_is_told(name: str) -> None:
    found = report(hour(**{name: 20.0}), 60, {}, [])
    assert found["ok"] is False
    assert found["slopes"][name]["per_hour"] == pytest.approx(20.0, rel=0.01)
    assert found["slopes"][name]["per_1000_commits"] == pytest.approx(20 / 18, rel=0.01)


def test_states_that_come_and_go_are_no_growth_and_what_grows_below_them_is() -> None:
    extra = [6 if minute in (11, 40, 50, 55) else 4 if minute in (33, 52, 58) else 0 for minute in range(61)]
    samples = [replace(one, scratch_entries=96 + more) for one, more in zip(hour(), extra, strict=True)]
    assert report(samples, 60, {}, [])["ok"] is True
    growing = [replace(one, scratch_entries=one.scratch_entries + one.seconds / 1200) for one in samples]
    found = report(growing, 60, {}, [])
    assert found["ok"] is False and found["slopes"]["scratch_entries"]["per_hour"] == pytest.approx(3.0, rel=0.1)


def test_the_journal_may_grow() -> None:
    assert report(hour(journal_mb=500.0, checkpoints_mb=90.0), 60, {}, [])["ok"] is True


def test_a_server_that_becomes_slower_is_told() -> None:
    samples = [replace(one, operations=int(one.operations * (1 - one.seconds / 20000))) for one in hour()]
    found = report(samples, 60, {}, [])
    assert found["ok"] is False and found["throughput_end_of_beginning"] < 0.9


def test_a_short_soak_is_not_judged() -> None:
    assert report(hour(core_mb=50.0)[:5], 4, {}, [])["ok"] is None
    assert slope(hour()[:2], "core_mb")["per_hour"] is None
    assert throughput_by_minute(hour()[:3]) == [10.0, 10.0]


def test_a_sample_counts_what_this_process_has(tmp_path: Path) -> None:
    (tmp_path / "scratch" / "session-1").mkdir(parents=True)
    (tmp_path / "scratch" / "session-1" / "file").write_bytes(bytes(3 << 20))
    (tmp_path / "journal.db").write_bytes(bytes(1 << 20))
    found = sample(os.getpid(), tmp_path, seconds=1.0, operations=2, commits=3)
    assert (found.scratch_entries, found.scratch_mb, found.journal_mb, found.checkpoints_mb) == (2, 3.0, 1.0, 0.0)
    assert found.core_mb > 10 and found.core_descriptors >= 3 and found.core_threads >= 1


def test_nobody_works_while_a_sample_is_taken_and_the_same_was_done_before_each() -> None:
    at_work = 0
    done: list[str] = []
    seen: list[tuple[int, list[str]]] = []

    async def client(name: str, rests: Rests) -> None:
        nonlocal at_work

        async def before_a_look() -> None:
            done.append("the same")

        while await rests.go_on(before_a_look):
            at_work += 1
            await anyio.sleep(0)
            done.append(name)
            at_work -= 1

    async def soak() -> None:
        rests = Rests(3)
        async with anyio.create_task_group() as tasks:
            for name in ("one", "two", "three"):
                tasks.start_soon(client, name, rests)
            for last in (False, False, True):
                await anyio.sleep(0.001)
                await rests.begin()
                seen.append((at_work, done.copy()))
                done.clear()
                await anyio.sleep(0.001)
                assert not done
                rests.end(last=last)

    anyio.run(soak)
    assert [working for working, _ in seen] == [0, 0, 0]
    assert all({"one", "two", "three"} < {*acts} and acts[-1] == "the same" for _, acts in seen)
    assert all(acts.count("the same") == 1 for _, acts in seen)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_short_soak_on_a_real_server_has_everything_answered_as_it_should_be(tmp_path: Path) -> None:
    output = tmp_path / "soak.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench.soak", "--minutes", "0.5", "--output", str(output)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(output.read_text())
    assert found["unexpected"] == [] and found["ok"] is None
    assert {"succeeds", "fails", "times_out", "cancelled"} <= found["done"].keys()
    assert found["samples"][-1]["commits"] > 0
