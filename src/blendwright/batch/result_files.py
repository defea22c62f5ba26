"""The table of results as files: results.jsonl and results.csv, and results.parquet where it is asked for. Each is replaced whole."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import orjson

from blendwright.batch.results import ResultRow, ResultsTable
from blendwright.values.errors import EnvironmentUnfit

COLUMNS = (
    "number", "status", "scene_hash", "location", "seconds", "operations", "reused", "attempts", "finding", "source", "worker",
    "finished", "key",
)  # fmt: skip
PARQUET_ROWS = 1000


def write_result_files(
    results: ResultsTable, directory: Path, batch: str, *, parquet: bool = False
) -> tuple[Path, ...]:
    """Raises EnvironmentUnfit where they cannot be written, or Parquet is asked for and cannot be had."""
    writers: dict[str, Callable[[Path], None]] = {
        "results.jsonl": lambda path: _write_jsonl(path, results.rows(batch)),
        "results.csv": lambda path: _write_csv(path, results, batch),
    }
    if parquet:
        writers["results.parquet"] = lambda path: _write_parquet(path, results, batch)
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
    first = row.findings[0] if row.findings else None
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
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


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


def _write_csv(path: Path, results: ResultsTable, batch: str) -> None:
    params, outputs = _columns(results.rows(batch))
    with _text(path) as file:
        writer: Any = None
        for row in results.rows(batch):
            values = flat_row(row, params, outputs)
            if writer is None:
                writer = csv.DictWriter(file, list(values))
                writer.writeheader()
            writer.writerow({name: _cell(value) for name, value in values.items()})


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is kept from being one."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


@contextlib.contextmanager
def _text(path: Path) -> Generator[TextIO]:
    with path.open("w", encoding="utf-8", newline="") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def require_parquet() -> None:
    """Raises EnvironmentUnfit where it cannot be written."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ModuleNotFoundError as error:
        cure = "Get it: pip install 'blendwright[parquet]'. results.csv and results.jsonl are written in any case."
        raise EnvironmentUnfit("writing Parquet takes pyarrow, which is not installed", cure=cure) from error


def _write_parquet(path: Path, results: ResultsTable, batch: str) -> None:
    require_parquet()
    import pyarrow
    import pyarrow.parquet as parquet

    params, outputs = _columns(results.rows(batch))
    types: dict[str, Any] = _arrow_types(results.rows(batch), params, outputs)
    schema: Any = pyarrow.schema(list(types.items()))
    with parquet.ParquetWriter(path, schema) as writer:
        page: list[Mapping[str, Any]] = []
        for row in results.rows(batch):
            page.append(_fitting(flat_row(row, params, outputs), types))
            if len(page) == PARQUET_ROWS:
                writer.write_table(pyarrow.Table.from_pylist(page, schema=schema))
                page = []
        if page:
            writer.write_table(pyarrow.Table.from_pylist(page, schema=schema))


def _arrow_types(rows: Iterator[ResultRow], params: tuple[str, ...], outputs: tuple[str, ...]) -> dict[str, Any]:
    """One type for each column: that of its values, or text where they are of several."""
    import pyarrow

    known = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    seen: dict[str, set[type]] = {}
    for row in rows:
        for name, value in flat_row(row, params, outputs).items():
            seen.setdefault(name, set()).update(() if value is None else {type(value)})
    found: dict[str, Any] = {}
    for name, types in seen.items():
        only = float if types == {int, float} else next(iter(types)) if len(types) == 1 else str
        found[name] = known.get(only, pyarrow.string())
    return found


def _fitting(values: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    as_text = {name for name, type in types.items() if str(type) == "string"}
    return {
        name: orjson.dumps(value).decode()
        if name in as_text and value is not None and not isinstance(value, str)
        else value
        for name, value in values.items()
    }
