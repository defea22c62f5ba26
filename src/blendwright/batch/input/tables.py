"""Rows of parameters, read one after another and never held all at once: from seeds, CSV, JSON lines and Parquet.

What is wrong names the file, the row and the column. Values of CSV are JSON where they are JSON, else text, as with `--set`; an empty
one leaves the parameter to its default.
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

# The parameters of one case, and where the row stands, as `table.csv:17`.
Row = tuple[Mapping[str, Any], str]
SEED = "seed"
SEEDS = re.compile(r"(-?\d{1,18}):(-?\d{1,18})")
ENDINGS = (".csv", ".jsonl", ".parquet")


def seed_rows(text: str) -> Iterator[Row]:
    """`0:100` is the seeds 0 to 99. Raises Refusal."""
    match = SEEDS.fullmatch(text)
    first, end = (int(match[1]), int(match[2])) if match else (0, 0)
    if end <= first:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{text[:50]}' is no range of seeds", "Write --seeds 0:100 for 0 to 99.")
    return (({SEED: seed}, "") for seed in range(first, end))


def table_rows(path: Path) -> Iterator[Row]:
    """The rows of a table, by the ending of its name. Raises Refusal, at once or in the middle."""
    readers = {".csv": _csv_rows, ".jsonl": _json_rows, ".parquet": _parquet_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise Refusal.of(Fault.ARGS_INVALID, f"{path} is no table", f"Its name must end in {', '.join(ENDINGS)}.")
    if not path.is_file():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no file {path}", "Check the path given as --params.")
    return _told(path, reader(path))


def _told(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    try:
        yield from rows
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Check the file and its permissions.") from error


def _csv_rows(path: Path) -> Iterator[Row]:
    # utf-8-sig: spreadsheets begin their files with a mark.
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            names = next(reader, None)
            if not names:
                raise _wrong(path, 1, None, "it has no header", "Put the names of the parameters into the first line.")
            _require_names(path, names)
            for values in reader:
                if not values:
                    continue
                line = reader.line_num
                if len(values) != len(names):
                    message = f"it has {len(values)} values, and the header has {len(names)} names"
                    raise _wrong(
                        path, line, None, message, "Give one value for each name; quote values that hold commas."
                    )
                yield {name: _value(text) for name, text in zip(names, values, strict=True) if text}, _at(path, line)
        except csv.Error as error:
            raise _wrong(path, reader.line_num, None, f"it is not CSV: {error}", "Correct the quotes there.") from error
        except UnicodeDecodeError as error:
            raise _wrong(path, reader.line_num + 1, None, "it is not text in UTF-8", "Save it as UTF-8.") from error


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
                raise _wrong(path, line, None, "it is no object", 'Write one object in each line: {"seed": 1}')
            _require_names(path, value, line)
            yield value, _at(path, line)


def _parquet_rows(path: Path) -> Iterator[Row]:
    names, rows = read_parquet(path)
    _require_names(path, names)
    for number, values in enumerate(rows, 1):
        for name, value in values.items():
            if value is not None and not isinstance(value, str | int | float | bool | list | dict):
                cure = "Numbers, texts, true and false, and lists of them can be given."
                raise _wrong(path, number, name, f"it holds a {type(value).__name__}", cure)
        yield {name: value for name, value in values.items() if value is not None}, _at(path, number)


def _require_names(path: Path, names: Any, line: int = 1) -> None:
    for name in names:
        if not str(name).isidentifier():
            cure = "A parameter is a name as programs have them: letters, digits and _."
            raise _wrong(path, line, None, f"'{str(name)[:50]}' is no name of a parameter", cure)
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        raise _wrong(path, line, repeated, "the name is there twice", "Give each parameter one column.")


def _at(path: Path, line: int) -> str:
    return f"{path.name}:{line}"


def _wrong(path: Path, line: int, column: str | None, message: str, cure: str | None) -> Refusal:
    where = f"{path}, row {line}" + ("" if column is None else f", column {column}")
    place = _at(path, line) + ("" if column is None else f":{column}")
    return Refusal([Finding(Fault.ARGS_INVALID, f"{where}: {message}", "", cure, place=place)])
