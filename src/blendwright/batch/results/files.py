"""The result files results.jsonl and results.csv, and optionally results.parquet. Each write replaces a file atomically."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, TextIO

import orjson

from blendwright.batch.input.parquet_files import write_parquet
from blendwright.batch.results.table import ResultRow, ResultsTable
from blendwright.values.errors import EnvironmentUnfit


def write_result_files(
    results: ResultsTable, directory: Path, batch: str, *, parquet: bool = False
) -> tuple[Path, ...]:
    """Write the result files and return their paths. Raise EnvironmentUnfit if they cannot be written or pyarrow is missing."""
    writers: dict[str, Callable[[Path], None]] = {
        "results.jsonl": lambda path: _write_jsonl(path, results.rows(batch)),
        "results.csv": lambda path: _write_csv(path, _flat_rows(results, batch)),
    }
    if parquet:
        writers["results.parquet"] = lambda path: write_parquet(path, lambda: _flat_rows(results, batch))
    written: list[Path] = []
    for name, write in writers.items():
        target = directory / name
        part = target.with_name(f".{name}.part")
        try:
            write(part)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            fix = "Free some space there, or check the permissions."
            raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure=fix) from error
        written.append(target)
    return tuple(written)


def flat_row(row: ResultRow, params: tuple[str, ...], outputs: tuple[str, ...]) -> dict[str, Any]:
    """Return a result as one line of a table, with a column for each parameter and each output."""
    finding: str | None = None
    if row.findings:
        first = row.findings[0]
        finding = f"{first['code']}: {first['message']}"
    values: dict[str, Any] = {
        "number": row.number,
        "status": row.status,
        "scene_hash": row.scene_hash,
        "location": row.location,
        "seconds": row.times.get("total"),
        "operations": row.operations,
        "reused": row.reused,
        "attempts": row.attempts,
        "finding": finding,
        "source": row.source,
        "worker": row.worker,
        "finished": row.finished,
        "key": row.key,
    }
    for name in params:
        values[f"param_{name}"] = _plain(row.params.get(name))
    for name in outputs:
        values[f"sha256_{name}"] = row.outputs.get(name, {}).get("sha256")
    return values


def _plain(value: Any) -> Any:
    """Return a list or an object as JSON, and any other value unchanged."""
    if isinstance(value, list | dict):
        return orjson.dumps(value).decode()
    return value


def _columns(rows: Iterator[ResultRow]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all parameters and of all outputs."""
    params: dict[str, None] = {}
    outputs: dict[str, None] = {}
    for row in rows:
        params.update(dict.fromkeys(row.params))
        outputs.update(dict.fromkeys(row.outputs))
    return tuple(params), tuple(outputs)


def _write_jsonl(path: Path, rows: Iterator[ResultRow]) -> None:
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row.to_json(), option=orjson.OPT_APPEND_NEWLINE))
        file.flush()
        os.fsync(file.fileno())


def _flat_rows(results: ResultsTable, batch: str) -> Iterator[dict[str, Any]]:
    params, outputs = _columns(results.rows(batch))
    for row in results.rows(batch):
        yield flat_row(row, params, outputs)


def _write_csv(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with _text(path) as file:
        writer: Any = None
        for values in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(values))
                writer.writeheader()
            writer.writerow({name: _cell(value) for name, value in values.items()})


def _cell(value: Any) -> Any:
    """Return a value with an apostrophe in front if a spreadsheet would read it as a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


@contextlib.contextmanager
def _text(path: Path) -> Generator[TextIO]:
    with path.open("w", encoding="utf-8", newline="") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
