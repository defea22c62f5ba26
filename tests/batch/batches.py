"""Batches for tests: small programs, a handler in this process, and what the directory of a batch must hold."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from blendwright.batch.cases.job_handler import CaseHandler
from blendwright.batch.definition import Batch
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Job, JobReport
from blendwright.batch.input.prepare import prepare
from blendwright.batch.input.tables import Row
from blendwright.batch.outputs.locations import open_outputs, open_results
from blendwright.batch.outputs.makers import output_of
from blendwright.batch.outputs.store import differing_files

BOXES = """
seed = param("seed", 0)
count = param("count", 4)
chance = random(seed)
for i in range(count):
    mesh.create_primitive(kind = "cube", name = "Box%d" % i, size = 1, location = [chance.uniform(-3, 3), i, 0])
"""


def seeds(count: int) -> Iterator[Row]:
    return (({"seed": seed}, "") for seed in range(count))


def write_program(place: Path, text: str = BOXES) -> Path:
    program = place / "boxes.star"
    program.write_text(text, encoding="utf-8")
    return program


class OneLane:
    """A batch and a handler for its jobs in this process."""

    def __init__(self, handler: CaseHandler, batch: Batch) -> None:
        self.handler = handler
        self.batch = batch

    def do(self, key: str) -> JobReport:
        return self.handler(Job(self.batch.id, key))


@contextmanager
def one_lane(
    root: Path,
    program: Path,
    rows: Iterator[Row],
    *,
    outputs: tuple[str, ...] = ("blend",),
    limits: Mapping[str, Any] | None = None,
    **options: Any,
) -> Generator[OneLane]:
    made = tuple(output_of(kind) for kind in outputs)
    prepared = prepare(program, rows, common={}, outputs=made, directory=root, **options)
    directory = BatchDirectory(root)
    with directory.locked(), open_results(str(directory.results)) as results:
        results.begin(prepared.batch)
        results.add(prepared.batch, prepared.rows)
    handler = CaseHandler(replace(directory.lane_settings(), **(limits or {})))
    try:
        yield OneLane(handler, prepared.batch)
    finally:
        handler.close()


def open_keys(root: Path) -> list[str]:
    with open_results(str(BatchDirectory(root).results)) as results:
        batch = results.batch()
        assert batch is not None
        return [case.key for case in results.open_cases(batch.id)]


def rows_of(root: Path) -> list[Mapping[str, Any]]:
    """The rows that count, as the published file has them."""
    return [json.loads(line) for line in (root / "results.jsonl").read_text().splitlines()]


def hashes(rows: list[Mapping[str, Any]]) -> dict[str, str]:
    return {json.dumps(row["params"], sort_keys=True): row["scene_hash"] for row in rows}


def assert_whole(root: Path) -> None:
    """Every published directory belongs to a row that counts, and has exactly the files that its manifest says."""
    outputs = open_outputs(str(root))
    rows = {row["location"]: row for row in rows_of(root) if row["location"] is not None}
    names = list(outputs.names())
    assert {outputs.location(name) for name in names} == set(rows)
    for name in names:
        manifest = outputs.manifest(name)
        assert manifest is not None, name
        assert not differing_files(outputs, name, manifest)
        assert dict(manifest.files) == rows[outputs.location(name)]["outputs"]
        assert manifest.key == rows[outputs.location(name)]["key"]
