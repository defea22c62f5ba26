"""Rows of parameters from seeds, CSV, JSON lines and Parquet. The readers yield one row at a time and never hold a complete table.

An error names the file, the row and the column. CSV values are JSON if they parse as JSON, and text otherwise, as with `--set`. An empty
value leaves the parameter at its default.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from blendwright.batch.input.parquet_files import read_parquet
from blendwright.schemas.json_reader import read_json
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# The parameters of one case, and the position of the row, as `table.csv:17`.
Row = tuple[Mapping[str, Any], str]
SEED = "seed"
SEEDS = re.compile(r"(-?\d{1,18}):(-?\d{1,18})")
SUFFIXES = (".csv", ".jsonl", ".parquet")


def seed_rows(text: str) -> Iterator[Row]:
    """Yield a row for each seed of a range: `0:100` stands for the seeds 0 to 99. Raise Refusal for an invalid or empty range."""
    match = SEEDS.fullmatch(text)
    first, end = 0, 0
    if match is not None:
        first, end = int(match[1]), int(match[2])
    if end <= first:
        message = f"'{text[:50]}' is not a range of seeds"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Write --seeds 0:100 for 0 to 99.")
    return (({SEED: seed}, "") for seed in range(first, end))


def table_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a table, whose suffix selects the format. Raise Refusal for an invalid file, at once or in the middle."""
    readers = {".csv": _csv_rows, ".jsonl": _json_rows, ".parquet": _parquet_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        fix = f"Its name must end in {', '.join(SUFFIXES)}."
        raise Refusal.of(Fault.ARGS_INVALID, f"{path} is not a supported table", fix)
    if not path.is_file():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"file {path} not found", "Check the path of --params.")
    return _readable(path, reader(path))


def _readable(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows. Raise Refusal instead of OSError."""
    try:
        yield from rows
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Check the file and its permissions.") from error


def _csv_rows(path: Path) -> Iterator[Row]:
    # utf-8-sig skips the byte order mark with which spreadsheets begin their files.
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            names = next(reader, None)
            if not names:
                raise _wrong(
                    path, 1, None, "it has no header", "Write the names of the parameters into the first line."
                )
            _require_names(path, names)
            for values in reader:
                if not values:
                    continue
                line = reader.line_num
                if len(values) != len(names):
                    message = f"it has {len(values)} values, but the header has {len(names)} names"
                    fix = "Write one value for each name; quote values that contain commas."
                    raise _wrong(path, line, None, message, fix)
                pairs = zip(names, values, strict=True)
                yield {name: _value(text) for name, text in pairs if text}, _at(path, line)
        except csv.Error as error:
            message = f"it is not valid CSV: {error}"
            raise _wrong(path, reader.line_num, None, message, "Correct the quotes there.") from error
        except UnicodeDecodeError as error:
            message = "it is not UTF-8 text"
            raise _wrong(path, reader.line_num + 1, None, message, "Save the file as UTF-8.") from error


def _value(text: str) -> Any:
    value, findings = read_json(text)
    if findings:
        return text
    return value


def _json_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            value, findings = read_json(text)
            if findings:
                raise _wrong(path, line, None, findings[0].message, findings[0].cure)
            if not isinstance(value, dict):
                raise _wrong(path, line, None, "it is not an object", 'Write one object per line: {"seed": 1}')
            _require_names(path, value, line)
            yield value, _at(path, line)


def _parquet_rows(path: Path) -> Iterator[Row]:
    names, rows = read_parquet(path)
    _require_names(path, names)
    for number, values in enumerate(rows, 1):
        for name, value in values.items():
            if value is not None and not isinstance(value, str | int | float | bool | list | dict):
                fix = "Use numbers, strings, true and false, and lists or objects of them."
                raise _wrong(path, number, name, f"it has the unsupported type {type(value).__name__}", fix)
        yield {name: value for name, value in values.items() if value is not None}, _at(path, number)


def _require_names(path: Path, names: Any, line: int = 1) -> None:
    seen_names: set[Any] = set()
    for name in names:
        if not str(name).isidentifier():
            fix = "A parameter's name consists of letters, digits and _, and does not start with a digit."
            raise _wrong(path, line, None, f"'{str(name)[:50]}' is not a valid name of a parameter", fix)
    for name in names:
        if name in seen_names:
            raise _wrong(path, line, name, "the name occurs twice", "Use one column for each parameter.")
        seen_names.add(name)


def _at(path: Path, line: int) -> str:
    return f"{path.name}:{line}"


def _wrong(path: Path, line: int, column: str | None, message: str, cure: str | None) -> Refusal:
    location, position = f"{path}, row {line}", _at(path, line)
    if column is not None:
        location += f", column {column}"
        position += f":{column}"
    return Refusal([Finding(Fault.ARGS_INVALID, f"{location}: {message}", "", cure, place=position)])
