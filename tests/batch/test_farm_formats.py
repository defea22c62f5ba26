"""Batches for other schedulers: what their own library says of a template, the shape of a Flamenco job, and what a task runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openjd.model import (
    DecodeValidationError,
    StepParameterSpaceIterator,
    create_job,
    decode_job_template,
    preprocess_job_parameters,
)

from blendwright.batch.farm_formats import FARM_FILES, FarmBatch, flamenco_files, openjd_files, select_rows
from blendwright.values.errors import Refusal
from support.processes.shell import Shell

SEEDS = FarmBatch("prop", "/farm", "prop.star", ("--seeds", "5:30"), ("--output", "glb"), 25, 10, "/farm/out")
TABLE = FarmBatch("prop", "/farm", "prop.star", ("--params", "table.csv"), (), 1, 10, "out")


def numbered(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    return (({"seed": number}, "") for number in range(count))


@pytest.mark.parametrize(
    ("cases", "expected"), [(None, [0, 1, 2, 3, 4]), ("0", [0]), ("1-2,4", [1, 2, 4]), ("3-99", [3, 4]), ("7", [])]
)
def test_cases_are_chosen_by_their_place_in_the_table(cases: str | None, expected: list[int]) -> None:
    assert [params["seed"] for params, _ in select_rows(numbered(5), cases)] == expected


def test_no_more_of_a_table_is_read_than_its_cases_need() -> None:
    rows = numbered(1000)
    list(select_rows(rows, "0-9"))
    assert next(rows)[0]["seed"] == 11


@pytest.mark.parametrize("cases", ["", "-1", "1-", "a", "1,,2", "1;2", "0-9 "])
def test_what_names_no_cases_is_refused(cases: str) -> None:
    with pytest.raises(Refusal, match="is not a list of cases"):
        select_rows(numbered(5), cases)


def job_of(batch: FarmBatch) -> Any:
    template = decode_job_template(
        template=json.loads(openjd_files(batch)["template.json"]), supported_extensions=["TASK_CHUNKING"]
    )
    values = preprocess_job_parameters(
        job_template=template,
        job_parameter_values={},
        job_template_dir=Path("/farm"),
        current_working_dir=Path("/farm"),
    )
    return create_job(job_template=template, job_parameter_values=values)


def test_an_openjd_template_has_every_case_once_in_chunks() -> None:
    step = job_of(SEEDS).steps[0]
    chunks = [parameters["Case"].value for parameters in StepParameterSpaceIterator(space=step.parameterSpace)]
    places = [params["seed"] for chunk in chunks for params, _ in select_rows(numbered(25), chunk)]
    assert sorted(places) == list(range(25))
    assert max(len(list(select_rows(numbered(25), chunk))) for chunk in chunks) <= 10


def test_an_openjd_template_of_a_single_case_has_one_task() -> None:
    step = job_of(TABLE).steps[0]
    assert [parameters["Case"].value for parameters in StepParameterSpaceIterator(space=step.parameterSpace)] == ["0-0"]


def test_paths_of_a_template_lie_beside_it_so_that_a_farm_can_move_them() -> None:
    paths = {name: parameter.value for name, parameter in job_of(TABLE).parameters.items()}
    assert paths == {"Program": "/farm/prop.star", "Table": "/farm/table.csv", "Out": "/farm/out", "Workers": "1"}


def test_a_template_that_openjd_refuses_would_be_noticed() -> None:
    wrong = json.loads(openjd_files(SEEDS)["template.json"])
    del wrong["extensions"]
    with pytest.raises(DecodeValidationError, match="TASK_CHUNKING"):
        decode_job_template(template=wrong, supported_extensions=["TASK_CHUNKING"])


def test_a_flamenco_job_has_the_settings_that_its_job_type_declares() -> None:
    files = flamenco_files(SEEDS)
    job, script = json.loads(files["job.json"]), files["blendwright_batch.js"]
    assert job.keys() == {"name", "type", "priority", "submitter_platform", "settings", "metadata"}
    assert f"{job['type']}.js" in {name.replace("_", "-") for name in files}
    kinds = {"string": str, "int32": int}
    declared = {
        name: kinds[kind]
        for line in script.splitlines()
        if line.strip().startswith("{ key:")
        for name, kind in [(line.split('"')[1], line.split('"')[3])]
    }
    assert {name: type(value) for name, value in job["settings"].items()} == declared
    assert (job["settings"]["cases"], job["settings"]["chunk_size"]) == ("0-24", 10)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node to run the job type with")
def test_the_job_type_compiles_to_the_same_tasks_as_openjd() -> None:
    files = flamenco_files(SEEDS)
    around = """
    const tasks = [];
    const author = {
        Task: (name, type) => ({ name, type, commands: [], addCommand(command) { this.commands.push(command); } }),
        Command: (name, parameters) => ({ name, parameters }),
    };
    function frameChunker(frames, size) {
        const [first, last] = frames.split("-").map(Number);
        const chunks = [];
        for (let at = first; at <= last; at += size) chunks.push(`${at}-${Math.min(at + size - 1, last)}`);
        return chunks;
    }
    """
    compiled = f"compileJob({{settings: ({files['job.json']}).settings, addTask: task => tasks.push(task)}});"
    script = f"{around}{files['blendwright_batch.js']}\n{compiled}\nconsole.log(JSON.stringify(tasks));"
    done = subprocess.run(["node", "-e", script], capture_output=True, check=True)
    tasks = json.loads(done.stdout)
    assert [task["name"] for task in tasks] == ["cases-0-9", "cases-10-19", "cases-20-24"]
    assert tasks[0]["commands"][0]["parameters"]["args"][:7] == [
        "batch", "run", "/farm/prop.star", "--seeds", "5:30", "--output", "glb",
    ]  # fmt: skip


def test_export_writes_the_files_and_checks_the_program(tmp_path: Path) -> None:
    program = tmp_path / "prop.star"
    program.write_text('mesh.create_primitive(kind = "cube", name = "Cube %d" % param("seed", 0))\n')
    shell = Shell(tmp_path)
    for format in FARM_FILES:
        options = ("--seeds", "0:25", "--out", "/farm/out", "--to", format, "--format", format, "--json")
        document = shell("batch", "export", str(program), *options, code=0).document
        assert (document["cases"], document["tasks"]) == (25, 3)
        assert "prop.star" in {Path(path).name for path in document["files"]}
        assert all(Path(path).is_file() for path in document["files"])
    program.write_text("nonsense(")
    shell("batch", "export", str(program), "--seeds", "0:25", "--out", "/x", "--to", "none", code=2)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["t.csv", "template.json", "boxes.star"])
def test_export_replaces_links_and_writes_through_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "boxes.star").write_text('n = param("n", 0)\nmesh.create_primitive(kind = "cube", name = "A")\n')
    (tmp_path / "t.csv").write_text("n\n1\n")
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / name).symlink_to("../mine")
    Shell(tmp_path)("batch", "export", "boxes.star", "--params", "t.csv", "--out", "o", "--to", "job", code=0)
    assert (tmp_path / "mine").read_text() == "precious"
    written = tmp_path / "job" / name
    assert not written.is_symlink() and written.stat().st_size > 3


@pytest.mark.parametrize(
    "changes",
    [{"options": ("--set", "t={{Param.Out}}")}, {"name": "a{{Param.Out}}"}, {"table": ("--params", "{{x}}.csv")}],
)
def test_what_openjd_would_evaluate_is_refused(changes: dict[str, Any]) -> None:
    batch = FarmBatch("boxes", "/job", "boxes.star", ("--seeds", "0:3"), (), 3, 1, "/out")
    with pytest.raises(Refusal, match="which starts an expression"):
        openjd_files(replace(batch, **changes))
    assert flamenco_files(replace(batch, **changes))
