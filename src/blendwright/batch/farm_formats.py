"""A batch as a job of another scheduler: an Open Job Description template, or a Flamenco job with the script that compiles it.

Each task runs `blendwright batch run` for some cases, in a separate output directory. A task that runs again resumes, and no task
depends on another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from blendwright.batch.input.tables import Row
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

FarmFormat = Literal["openjd", "flamenco"]
CASES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")
# Limit of comma-separated ranges in --only.
MAX_RANGES = 1000


@dataclass(frozen=True, slots=True)
class FarmBatch:
    """The data of a farm's job. `program` and the table are files in `folder`, which every machine of the farm can read.

    `table` is the option that names the rows, with its value. `options` are all other options of `batch run` that do not depend on the
    task. `per_task` is the number of cases in one task."""

    name: str
    folder: str
    program: str
    table: tuple[str, str] | None
    options: tuple[str, ...]
    cases: int
    per_task: int
    out: str

    @property
    def range(self) -> str:
        if self.cases > 1:
            return f"0-{self.cases - 1}"
        return "0"


def select_rows(rows: Iterable[Row], cases: str | None) -> Iterator[Row]:
    """Yield the rows whose positions, counted from 0, are in a list such as `0-9,17`. Yield all rows for None. Raise Refusal."""
    if cases is None:
        return iter(rows)
    if not CASES.fullmatch(cases) or cases.count(",") >= MAX_RANGES:
        message = f"'{cases[:50]}' is not a list of cases"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Write it as --only 0-9,17.")
    ranges: list[tuple[int, int]] = []
    for part in cases.split(","):
        first, _, last = part.partition("-")
        ranges.append((int(first), int(last or first)))
    end = max(last for _, last in ranges)
    return _selected(rows, ranges, end)


def _selected(rows: Iterable[Row], ranges: list[tuple[int, int]], end: int) -> Iterator[Row]:
    for position, row in enumerate(rows):
        if position > end:
            return
        if any(first <= position <= last for first, last in ranges):
            yield row


def openjd_files(batch: FarmBatch) -> dict[str, str]:
    """Return `template.json` of Open Job Description 2023-09. Paths are parameters, so that a farm can map them; cases come in chunks.

    In OpenJD, a path can have a default only if it is relative to the template. Therefore an absolute `out` is a string. Raises Refusal
    for values that OpenJD would read as expressions, because the format has no way to escape them."""
    for value in (batch.name, *batch.options, *(batch.table or ()), batch.out):
        if "{{" in value:
            message = f"'{value[:100]}' contains {{{{, which starts an expression in an Open Job Description"
            fix = "Use a name or value without {{, or pass the value in a table: --params."
            raise Refusal.of(Fault.ARGS_INVALID, message, fix)
    if batch.out.startswith("/") or "://" in batch.out:
        out = {"name": "Out", "type": "STRING", "default": batch.out}
    else:
        out = _path("Out", batch.out, "DIRECTORY", "OUT")
    parameters: list[dict[str, Any]] = [
        _path("Program", batch.program, "FILE", "IN"),
        out,
        {"name": "Workers", "type": "INT", "default": 1, "minValue": 1, "description": "Blenders of one task."},
    ]
    table: tuple[str, ...] = batch.table or ()
    if batch.table is not None and batch.table[0] == "--params":
        parameters.append(_path("Table", batch.table[1], "FILE", "IN"))
        table = ("--params", "{{Param.Table}}")
    arguments = [
        *("batch", "run", "{{Param.Program}}", *table, *batch.options, "--only", "{{Task.Param.Case}}"),
        *("--out", "{{Param.Out}}/{{Task.Param.Case}}", "--workers", "{{Param.Workers}}", "--json"),
    ]
    chunks = {"defaultTaskCount": batch.per_task, "rangeConstraint": "CONTIGUOUS"}
    case = {"name": "Case", "type": "CHUNK[INT]", "range": batch.range, "chunks": chunks}
    template = {
        "specificationVersion": "jobtemplate-2023-09",
        "extensions": ["TASK_CHUNKING"],
        "name": batch.name,
        "description": f"{batch.cases} cases of {batch.name}, {batch.per_task} in a task.",
        "parameterDefinitions": parameters,
        "steps": [
            {
                "name": "Cases",
                "parameterSpace": {"taskParameterDefinitions": [case]},
                "script": {"actions": {"onRun": {"command": "blendwright", "args": arguments}}},
            }
        ],
    }
    return {"template.json": json.dumps(template, indent=2) + "\n"}


def flamenco_files(batch: FarmBatch) -> dict[str, str]:
    """Return `job.json` for a Flamenco 3 manager, and the script of its job type for the manager's folder of scripts."""
    table = batch.table
    if table is not None and table[0] == "--params":
        table = (table[0], f"{batch.folder}/{table[1]}")
    job = {
        "name": batch.name,
        "type": "blendwright-batch",
        "priority": 50,
        "submitter_platform": "manager",
        "settings": {
            "program": f"{batch.folder}/{batch.program}",
            "table": json.dumps(table or ()),
            "options": json.dumps(batch.options),
            "cases": batch.range,
            "chunk_size": batch.per_task,
            "workers": 1,
            "out": batch.out,
        },
        "metadata": {"project": batch.name},
    }
    return {"job.json": json.dumps(job, indent=2) + "\n", "blendwright_batch.js": FLAMENCO_JOB_TYPE}


FARM_FILES: dict[FarmFormat, Callable[[FarmBatch], dict[str, str]]] = {
    "openjd": openjd_files,
    "flamenco": flamenco_files,
}

# The manager names a job type after its file, with - instead of _. frameChunker splits 0-99 into 0-9, 10-19 and so on.
FLAMENCO_JOB_TYPE = """\
const JOB_TYPE = {
    label: "Blendwright batch",
    description: "Cases of a Blendwright batch, some in each task",
    settings: [
        { key: "program", type: "string", required: true, subtype: "file_path" },
        { key: "table", type: "string", default: "[]", description: "The option that names the rows, as a JSON list" },
        { key: "options", type: "string", default: "[]", description: "Further options of batch run, as a JSON list" },
        { key: "cases", type: "string", required: true, description: "Numbers of the cases, as 0-99" },
        { key: "chunk_size", type: "int32", default: 10, description: "Cases in one task" },
        { key: "workers", type: "int32", default: 1, description: "Blenders of one task" },
        { key: "out", type: "string", required: true, subtype: "dir_path" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const fixed = JSON.parse(settings.table).concat(JSON.parse(settings.options));
    for (const chunk of frameChunker(settings.cases, settings.chunk_size)) {
        const task = author.Task("cases-" + chunk, "blender");
        task.addCommand(author.Command("exec", {
            exe: "blendwright",
            args: ["batch", "run", settings.program].concat(fixed, [
                "--only", chunk, "--out", settings.out + "/" + chunk, "--workers", String(settings.workers), "--json",
            ]),
        }));
        job.addTask(task);
    }
}
"""


def _path(name: str, default: str, kind: str, flow: str) -> dict[str, Any]:
    return {"name": name, "type": "PATH", "objectType": kind, "dataFlow": flow, "default": default}
