"""Batch files, tables of results and definitions that somebody else wrote: what they say about programs to run and about grants."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batches import BOXES, one_lane, seeds, write_program

from blendwright.batch.cases import case_runner
from blendwright.batch.cases.job_handler import CaseHandler
from blendwright.batch.commands.consent import consented_blender, consented_grants
from blendwright.batch.definition import Batch
from blendwright.batch.definition_checks import batch_queue
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Job
from blendwright.batch.outputs.locations import open_results
from blendwright.values.errors import EnvironmentUnfit, Refusal
from support.processes.shell import Shell, at_a_terminal


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "boxes.star").write_text(BOXES)
    return Shell(tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """What runs as an environment of Python would, and leaves a file where it did."""
    path = tmp_path / "python-of-others"
    path.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\nexit 1\n")
    path.chmod(0o755)
    return path


def write_batch_file(place: Path, **said: Any) -> None:
    document = {"format": "batch.v1", "program": "boxes.star", "outputs": ["glb"], **said}
    (place / "batch.json").write_text(json.dumps(document))


def redefine(root: Path, **changes: Any) -> None:
    """As somebody does who knows what a table of results looks like."""
    with closing(sqlite3.connect(BatchDirectory(root).results)) as connection:
        (text,) = connection.execute("SELECT definition FROM batches").fetchone()
        batch = Batch.from_json({**json.loads(text), **changes})
        connection.execute("UPDATE batches SET id = ?, definition = ?", (batch.id, json.dumps(batch.to_json())))
        connection.execute("UPDATE members SET batch = ?", (batch.id,))
        connection.execute("UPDATE cases SET status = 'waiting', row = NULL")
        connection.commit()


def begin(root: Path, program: Path) -> None:
    with one_lane(root, program, seeds(1), outputs=("glb",)):
        pass


@pytest.mark.parametrize("named", ["./python-of-others", "{place}/python-of-others", "python3"])
def test_a_batch_file_names_no_program_to_run(shell: Shell, program: Path, named: str) -> None:
    write_batch_file(shell.place, blender=named.format(place=shell.place))
    ran = shell("batch", "run", "batch.json", "--out", "out", code=2)
    assert "batch.json: blender: " in ran.err and "--blender PATH" in ran.err
    assert not (shell.place / "ran").exists() and not (shell.place / "out").exists()


def test_a_table_of_results_names_no_program_to_run(shell: Shell, program: Path) -> None:
    begin(shell.place / "out", shell.place / "boxes.star")
    redefine(shell.place / "out", blender=str(program))
    ran = shell("batch", "retry", "out", "--failed", code=2)
    assert "results.db: blender: " in ran.err and "--blender PATH" in ran.err
    assert not (shell.place / "ran").exists()


def test_names_of_blenders_are_taken_and_what_the_user_gives_comes_first() -> None:
    assert consented_blender(None, "5.2", "batch.json") == "5.2"
    assert consented_blender("/opt/blender", "./other", "batch.json") == "/opt/blender"
    assert consented_blender(None, None, "batch.json") is None


def test_a_lane_runs_the_blender_of_its_machine_whatever_a_definition_names(tmp_path: Path, program: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        other = replace(lane.batch, blender=str(program))
        with open_results(str(BatchDirectory(root).results)) as results:
            results.begin(other)
        (key,) = open_keys_of(root, lane.batch)
        report = lane.handler(Job(other.id, key))
    assert report.row is not None and report.row["status"] == "done"
    assert not (tmp_path / "ran").exists()


def open_keys_of(root: Path, batch: Batch) -> list[str]:
    with open_results(str(BatchDirectory(root).results)) as results:
        return [case.key for case in results.open_cases(batch.id)]


def test_a_batch_file_allows_itself_nothing(shell: Shell) -> None:
    write_batch_file(shell.place, approve=["destructive", "file.export"])
    ran = shell("batch", "run", "batch.json", "--approve", "file.export", "--out", "out", code=2)
    assert "batch.json: approve: " in ran.err and "--approve destructive" in ran.err
    assert "--approve file.export" not in ran.err
    assert not (shell.place / "out").exists()


def test_a_table_of_results_allows_itself_nothing(shell: Shell) -> None:
    begin(shell.place / "out", shell.place / "boxes.star")
    redefine(shell.place / "out", approve=["destructive"])
    ran = shell("batch", "retry", "out", "--failed", code=2)
    assert "results.db: approve: " in ran.err and "--approve destructive" in ran.err
    given = ("--approve", "destructive", "--approve", "file.export")
    ran = shell("batch", "retry", "out", "--failed", *given, code=2)
    assert "the batch was run without --approve file.export" in ran.err


def test_what_a_batch_file_wants_is_asked_once_at_a_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    write_batch_file(shell.place, approve=["destructive"])
    code, shown = at_a_terminal(shell.place, "n\n", "batch", "run", "batch.json", "--out", "out")
    assert (code, shown.count("Allow them? [y/N]")) == (2, 1)
    assert "requests these grants: destructive" in shown
    assert not (shell.place / "out").exists()
    monkeypatch.setattr("blendwright.batch.commands.consent.at_a_terminal", lambda: True)
    for answer, allowed in (("y\n", True), ("\n", False), ("", False)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        if allowed:
            assert consented_grants((), ("destructive",), "batch.json") == ("destructive",)
        else:
            with pytest.raises(Refusal, match="destructive"):
                consented_grants((), ("destructive",), "batch.json")


def test_what_the_user_gave_is_not_asked_again() -> None:
    assert consented_grants(("destructive",), ("destructive",), "batch.json") == ("destructive",)
    assert consented_grants(("destructive",), (), "batch.json") == ("destructive",)


def test_a_machine_of_a_fleet_allows_what_it_was_told_to(tmp_path: Path) -> None:
    root = tmp_path / "out"
    text = 'seed = param("seed", 0)\nmesh.create_primitive(kind = "cube", name = "A")\nobject.delete(object = "A")'
    with one_lane(root, write_program(tmp_path, text), seeds(2), outputs=(), approve=("destructive",)) as lane:
        first, second = open_keys_of(root, lane.batch)
        allowing = lane.do(first)
        cautious = CaseHandler(replace(BatchDirectory(root).lane_settings(), approve=["file.export"]))
        try:
            refusing = cautious(Job(lane.batch.id, second))
        finally:
            cautious.close()
    assert allowing.row is not None and allowing.row["status"] == "done"
    assert refusing.row is not None and refusing.row["status"] == "failed"
    assert [finding["code"] for finding in refusing.row["findings"]] == ["POLICY_BLOCKED"]


def change(root: Path, sql: str, *bindings: Any) -> None:
    with closing(sqlite3.connect(BatchDirectory(root).results)) as connection:
        connection.execute(sql, bindings)
        connection.commit()


def of_a_fleet(root: Path, batch: Batch) -> CaseHandler:
    """A lane as that of a worker: its jobs come from a queue that others can write to."""
    return CaseHandler(replace(BatchDirectory(root).lane_settings(), queue=batch_queue(batch)))


@pytest.mark.parametrize(
    ("sql", "finding"),
    [
        ("UPDATE batches SET definition = '{}'", "cannot be read"),
        ("UPDATE batches SET definition = '[5'", "cannot be read"),
        (
            "UPDATE batches SET definition = json_set(definition, '$.keep', 'keep')",
            "has changed",
        ),
        ("UPDATE batches SET definition = json_set(definition, '$.outputs[0].kind', 5)", "batch"),
        ("UPDATE batches SET id = 'another'", "has no batch"),
        ("UPDATE cases SET params = '[5]'", "its parameters are not an object"),
    ],
)
def test_what_is_not_sound_fails_its_case_on_a_machine_of_a_fleet_and_ends_nothing(
    tmp_path: Path, sql: str, finding: str
) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        (key,) = open_keys_of(root, lane.batch)
        change(root, sql)
        with closing(of_a_fleet(root, lane.batch)) as handler:
            report = handler(Job(lane.batch.id, key))
    assert report.end == "published" and report.row is not None and report.row["status"] == "failed"
    assert finding in report.row["findings"][0]["message"] and report.row["findings"][0]["cure"]


def test_what_is_not_sound_ends_a_run_on_one_machine(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        (key,) = open_keys_of(root, lane.batch)
        change(root, "UPDATE batches SET definition = '{}'")
        with (
            closing(CaseHandler(BatchDirectory(root).lane_settings())) as handler,
            pytest.raises(EnvironmentUnfit, match="cannot be read"),
        ):
            handler(Job(lane.batch.id, key))
        with open_results(str(BatchDirectory(root).results)) as results:
            standing = results.standing(key)
    assert standing is not None and (standing.status, standing.attempts) == ("waiting", 0)


def test_a_job_in_the_queue_of_another_blender_fails_its_case(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        other = replace(lane.batch, blender_version="4.2.23")
        with open_results(str(BatchDirectory(root).results)) as results:
            results.begin(other)
            results.add(other, [({"seed": 0}, "")])
            (key,) = [case.key for case in results.open_cases(other.id)]
        with closing(of_a_fleet(root, lane.batch)) as handler:
            report = handler(Job(other.id, key))
    assert report.row is not None and "cases-4.2.23-" in report.row["findings"][0]["message"]


def test_a_case_whose_key_is_none_is_skipped_on_a_machine_of_a_fleet(tmp_path: Path) -> None:
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        change(root, "INSERT INTO cases (number, key, params, source) VALUES (7, '../..', '{}', '')")
        with closing(of_a_fleet(root, lane.batch)) as handler:
            report = handler(Job(lane.batch.id, "../.."))
        with closing(sqlite3.connect(BatchDirectory(root).results)) as connection:
            (status,) = connection.execute("SELECT status FROM cases WHERE number = 7").fetchone()
    assert (report.end, status) == ("skipped", "waiting") and "'../..'" in str(report.reason)


def test_a_case_that_fails_as_nobody_foresaw_ends_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise TypeError("unhashable type: 'dict'")

    monkeypatch.setattr(case_runner, "make_outputs", fail)
    root = tmp_path / "out"
    with one_lane(root, write_program(tmp_path), seeds(2), outputs=("glb",)) as lane:
        first, second = open_keys_of(root, lane.batch)
        with closing(of_a_fleet(root, lane.batch)) as handler:
            report = handler(Job(lane.batch.id, first))
        with pytest.raises(TypeError):
            lane.do(second)
    assert report.row is not None and report.retire
    assert [finding["code"] for finding in report.row["findings"]] == ["INTERNAL_ERROR"]
    assert "unhashable" in report.row["findings"][0]["message"]
