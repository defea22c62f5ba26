"""kill -9 of core, worker and both: nothing acknowledged is lost, nothing is applied twice, and the plan is completed afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from crash_child import plan

import blendwright
from blendwright.journal import Journal
from journal.ledger import assert_sound

SIZE = 150
CHILD = Path(__file__).with_name("crash_child.py")

# Who is killed, after which acknowledgement; or at which crash point of the journal, for which time.
INSTANTS = [(whom, at) for whom in ("core", "both") for at in (1, 2, 60, 100, 149, 150)] + [
    ("worker", 1),
    ("worker", 149),
]
POINTS = [
    f"{point}:{nth}"
    for point, nth in (
        ("commit.begun", 2),
        ("commit.half_of_commits", 1),
        ("commit.commits_written", 2),
        ("commit.audit_written", 3),
        ("commit.head_moved", 2),
        ("commit.before_commit", 1),
        ("commit.before_commit", 3),
        ("commit.after_commit", 1),
        ("commit.after_commit", 2),
        ("commit.after_commit", 3),
        ("acquire.after_commit", 1),
        ("close.before_lock_release", 1),
    )
]
CASES = [(f"{whom} after {at}", whom, at, None) for whom, at in INSTANTS] + [
    (point, "nobody", 0, point) for point in POINTS
]


def run_child(workspace: Path, whom: str, at: int, point: str | None) -> tuple[list[tuple[str, str, str]], int]:
    """What the child acknowledged, and how it ended."""
    environment = dict(os.environ) | ({"BLENDWRIGHT_CRASH_AT": point} if point else {})
    done = subprocess.run(
        [sys.executable, CHILD, workspace, str(SIZE), whom, str(at)],
        env=environment, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    lines = [line.split(" ") for line in done.stdout.decode().splitlines()]
    return [(line[0], line[1], line[2]) for line in lines if line[0] != "end"], done.returncode


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The hash after each operation where nobody is killed."""
    acknowledged, code = run_child(tmp_path_factory.mktemp("undisturbed"), "nobody", 0, None)
    assert code == 0 and len(acknowledged) == SIZE
    return {id: hash for id, _, hash in acknowledged}


@pytest.fixture(scope="module")
def crashed(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, tuple[Path, list[tuple[str, str, str]], int]]]:
    """Every case, two at a time: most of their time goes into starting Blender."""
    places = {name: tmp_path_factory.mktemp("crashed") for name, *_ in CASES}
    with ThreadPoolExecutor(2) as threads:
        running = {name: threads.submit(run_child, places[name], whom, at, point) for name, whom, at, point in CASES}
        yield {name: (places[name], *found.result()) for name, found in running.items()}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "whom"), [(name, whom) for name, whom, *_ in CASES], ids=lambda value: value)
def test_nothing_acknowledged_is_lost_and_the_journal_is_sound(
    crashed: dict[str, tuple[Path, list[tuple[str, str, str]], int]], undisturbed: dict[str, str], name: str, whom: str
) -> None:
    workspace, acknowledged, code = crashed[name]
    assert (code == 0) == (whom == "worker"), "it was killed where it should be"
    assert_sound(workspace)
    with_journal = Journal(workspace)
    commits = {commit.operation_id: commit for commit in with_journal.log(limit=1000) if commit.kind == "operation"}
    with_journal.close()
    order = list(undisturbed)
    if whom != "worker":
        # What stands is a beginning of the plan, with the hashes of the undisturbed run, and holds everything acknowledged.
        assert sorted(commits) == order[: len(commits)]
        assert all(commit.hash_after == undisturbed[id] for id, commit in commits.items())
    assert {id for id, status, _ in acknowledged if status == "succeeded"} <= commits.keys()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["core after 60", "both after 100", "worker after 149", "commit.half_of_commits:1"])
def test_a_second_run_completes_the_plan_with_cached_receipts_for_the_first_part(
    crashed: dict[str, tuple[Path, list[tuple[str, str, str]], int]], undisturbed: dict[str, str], name: str
) -> None:
    workspace, acknowledged, _ = crashed[name]
    with blendwright.open(workspace, spare=False) as scene:
        report = scene.run(plan(SIZE), request_id="crash")
        assert report.ok
        cached = {operation.operation_id for operation in report.operations if operation.status == "skipped_idempotent"}
        assert {id for id, status, _ in acknowledged if status == "succeeded"} <= cached
        assert scene.hash == undisturbed[max(undisturbed)] or name.startswith("worker")
        found = scene.call("scene.find", name="Empty *", limit=1)
        assert found.result is not None and found.result["total"] == SIZE
        if "core" in name or "both" in name:
            assert any("without closing" in sentence for sentence in scene.recovered)
    assert_sound(workspace)
