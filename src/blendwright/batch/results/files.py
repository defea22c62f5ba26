"""The table of results as files: results.jsonl and results.csv, and results.parquet where it is asked for. Each is replaced whole."""

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
    """Raises EnvironmentUnfit where they cannot be written, or Parquet is asked for and cannot be had."""
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
            cure = "Make room there, or check who may write there."
            raise EnvironmentUnfit(f"{target} cannot be written: {error.strerror}", cure=cure) from error
        written.append(target)
    return tuple(written)


def flat_row(row: ResultRow, params: tuple[str, ...], outputs: tuple[str, ...]) -> dict[str, Any]:
    """One line of a table: a column for each parameter and each output."""
    if row.findings:
        first = row.findings[0]
    else:
        first = None
    values = {
        "number": row.number,
        "status": row.status,
        "scene_hash": row.scene_hash,
        "location": row.location,
        "seconds": row.times.get("total"),
        "operations": row.operations,
        "reused": row.reused,
        "attempts": row.attempts,
        "finding": None if first is None else f"{first['code']}: {first['message']}",
        "source": row.source,
        "worker": row.worker,
        "finished": row.finished,
        "key": row.key,
    }
    given = {f"param_{name}": _plain(row.params.get(name)) for name in params}
    made = {f"sha256_{name}": row.outputs.get(name, {}).get("sha256") for name in outputs}
    return {**values, **given, **made}


def _plain(value: Any) -> Any:
    if isinstance(value, list | dict):
        return orjson.dumps(value).decode()
    return value


def _columns(rows: Iterator[ResultRow]) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
    """A text that a spreadsheet would take for a formula is kept from being one."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


@contextlib.contextmanager
def _text(path: Path) -> Generator[TextIO]:
    with path.open("w", encoding="utf-8", newline="") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
