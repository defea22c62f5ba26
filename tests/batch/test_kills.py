"""Lanes and coordinators are killed whenever: every case is there once in the end, whole, and as a run that nobody disturbed has it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from batches import BOXES, assert_whole, hashes, one_lane, open_keys, rows_of, seeds, write_program

from blendwright.batch.directory import BatchDirectory
from blendwright.batch.outputs.locations import open_results
from blendwright.batch.results.files import write_result_files
from support.processes.shell import PROGRAM

LANE = "blendwright.batch.engines.lane"


def children(pid: int) -> Iterator[int]:
    for task in Path("/proc", str(pid), "task").glob("*/children"):
        try:
            yield from map(int, task.read_text().split())
        except OSError:
            continue


def command_line(pid: int) -> str:
    try:
        return Path("/proc", str(pid), "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def lanes_of(coordinator: int) -> list[int]:
    return [pid for pid in children(coordinator) if LANE in command_line(pid)]


def family(pid: int) -> list[int]:
    found = list(children(pid))
    return found + [below for child in found for below in family(child)]


def alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def finished(root: Path) -> int:
    if not (root / "results.db").exists():
        return 0
    with open_results(str(BatchDirectory(root).results)) as results:
        batch = results.batch()
        counts = None if batch is None else results.counts(batch.id)
    return 0 if counts is None else counts.done + counts.failed


class Coordinator:
    """`blendwright batch run` as a process that can be killed."""

    def __init__(self, root: Path, program: Path, cases: int, lanes: int) -> None:
        arguments = ["batch", "run", str(program), "--seeds", f"0:{cases}", "--output", "blend", "--out", str(root)]
        self.process = subprocess.Popen(
            [PROGRAM, *arguments, "--workers", str(lanes), "--json"], stdout=subprocess.DEVNULL, cwd=root.parent
        )
        self.seen: set[int] = set()

    def wait_for(self, root: Path, count: int) -> None:
        while self.process.poll() is None and finished(root) < count:
            self.seen.update(family(self.process.pid))
            time.sleep(0.05)

    def kill(self) -> None:
        self.seen.update(family(self.process.pid))
        self.process.kill()
        self.process.wait()


def assert_gone(pids: set[int]) -> None:
    ends = time.monotonic() + 60
    while left := [pid for pid in pids if alive(pid)]:
        assert time.monotonic() < ends, f"still there: {[(pid, command_line(pid)) for pid in left]}"
        time.sleep(0.05)


def serial_hashes(place: Path, program: Path, cases: int) -> dict[str, str]:
    root = place / "serial"
    with one_lane(root, program, seeds(cases)) as lane:
        for key in open_keys(root):
            assert lane.do(key).end == "published"
        with open_results(str(BatchDirectory(root).results)) as results:
            write_result_files(results, root, lane.batch.id)
    assert_whole(root)
    return hashes(rows_of(root))


def assert_each_once(root: Path, place: Path, program: Path, cases: int) -> None:
    rows = rows_of(root)
    assert [row["number"] for row in rows] == list(range(cases))
    assert {row["status"] for row in rows} == {"done"}, [row["findings"] for row in rows if row["findings"]]
    assert hashes(rows) == serial_hashes(place, program, cases)
    assert_whole(root)
    assert not any((root / "work" / "cases").iterdir())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_a_lane_and_a_coordinator_are_killed_and_each_case_is_there_once(tmp_path: Path) -> None:
    cases, root, program = 6, tmp_path / "killed", write_program(tmp_path)
    first = Coordinator(root, program, cases, 1)  # one lane: where it is not replaced, nothing goes on
    first.wait_for(root, 1)
    for lane in lanes_of(first.process.pid):
        os.kill(lane, signal.SIGKILL)
    first.wait_for(root, 3)
    first.kill()
    assert_gone(first.seen)
    second = Coordinator(root, program, cases, 1)
    assert second.process.wait(200) == 0
    assert_each_once(root, tmp_path, program, cases)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_a_killed_lane_is_replaced_and_coordinators_that_end_early_leave_nothing_running(tmp_path: Path) -> None:
    cases, root, program = 24, tmp_path / "killed", write_program(tmp_path)
    first = Coordinator(root, program, cases, 1)  # one lane: where it is not replaced, nothing goes on
    first.wait_for(root, 4)
    os.kill(random.Random(0).choice(lanes_of(first.process.pid)), signal.SIGKILL)
    first.wait_for(root, 12)
    first.kill()
    assert_gone(first.seen)
    assert 12 <= finished(root) < cases
    second = Coordinator(root, program, cases, 1)
    second.wait_for(root, 15)
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(200) == 130
    assert_gone(second.seen)
    assert 15 <= finished(root) < cases
    third = Coordinator(root, program, cases, 1)
    assert third.process.wait(200) == 0
    assert_each_once(root, tmp_path, program, cases)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_five_hundred_cases_under_kills_every_few_seconds(tmp_path: Path) -> None:
    cases, root = 500, tmp_path / "killed"
    program = write_program(tmp_path, BOXES.replace('param("count", 4)', 'param("count", 40)'))
    chance, kills, seen = random.Random(int(os.environ.get("BLENDWRIGHT_KILLS_SEED", "0"))), 0, set[int]()
    while True:
        run = Coordinator(root, program, cases, 2)
        while run.process.poll() is None:
            pause = time.monotonic() + chance.uniform(2, 8)
            while run.process.poll() is None and time.monotonic() < pause:
                run.seen.update(family(run.process.pid))
                time.sleep(0.1)
            victims = lanes_of(run.process.pid)
            if run.process.poll() is not None or not victims:
                continue
            kills += 1
            # Now and then the Blender of a lane, and the coordinator.
            if chance.random() < 0.15:
                run.kill()
                assert_gone(run.seen)
            else:
                victim = chance.choice(victims)
                inner = [*children(victim)]
                os.kill(chance.choice([victim, *inner]), signal.SIGKILL)
        seen |= run.seen
        if run.process.returncode != -signal.SIGKILL:
            break
    assert run.process.returncode == 0, json.dumps(rows_of(root)[-1])
    assert kills >= 10
    assert_gone(seen)
    assert_each_once(root, tmp_path, program, cases)
