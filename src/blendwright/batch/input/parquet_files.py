"""Tables in Parquet, read and written with pyarrow, which the extra `parquet` installs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

# Rows that are read or written at once.
PAGE = 1000


def require_pyarrow(doing: str) -> Any:
    """Return the module pyarrow, which has no types. `doing` names the action in the message. Raise EnvironmentUnfit without it."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        fix = "Install it: pip install 'blendwright[parquet]'. Tables as .csv and .jsonl do not need it."
        raise EnvironmentUnfit(f"{doing} needs pyarrow, which is not installed", cure=fix) from error


def read_parquet(path: Path) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Return the names of the columns, and an iterator over the rows. Raise Refusal if the file is not Parquet."""
    pyarrow = require_pyarrow(f"reading {path.name}")
    try:
        table: Any = pyarrow.parquet.ParquetFile(path)
        names: list[str] = list(table.schema_arrow.names)
    except pyarrow.ArrowException as error:
        raise _not_parquet(path, error) from error

    def rows() -> Iterator[dict[str, Any]]:
        try:
            for page in table.iter_batches(PAGE):
                yield from page.to_pylist()
        except pyarrow.ArrowException as error:
            raise _not_parquet(path, error) from error

    return names, rows()


def _not_parquet(path: Path, error: BaseException) -> Refusal:
    fix = "Write the file again, or pass a .csv or .jsonl file."
    return Refusal.of(Fault.ARGS_INVALID, f"{path} is not a valid Parquet file: {error}", fix)


def write_parquet(path: Path, rows: Callable[[], Iterator[Mapping[str, Any]]]) -> None:
    """Write rows with equal columns to a file. The function calls `rows` twice: for the types of the columns, and for the values."""
    pyarrow = require_pyarrow("writing Parquet")
    types = _column_types(rows())
    arrow_types = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, arrow_types[type]) for name, type in types.items()])
    converted_rows = (_converted(row, types) for row in rows())
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while page := list(islice(converted_rows, PAGE)):
            writer.write_table(pyarrow.Table.from_pylist(page, schema=schema))


def _column_types(rows: Iterator[Mapping[str, Any]]) -> dict[str, type]:
    """Return one type for each column: the type of its values, or str if they have several types or an unsupported one."""
    value_types: dict[str, set[Any]] = {}
    for row in rows:
        for name, value in row.items():
            types = value_types.setdefault(name, set())
            if value is not None:
                types.add(type(value))
    return {name: _common_type(types) for name, types in value_types.items()}


def _common_type(types: set[Any]) -> type:
    if types in ({int, float}, {float}):
        return float
    if types in ({int}, {bool}):
        return next(iter(types))
    return str


def _converted(row: Mapping[str, Any], types: Mapping[str, type]) -> dict[str, Any]:
    """Return a row whose values have the types of the columns. Other values in a text column become JSON."""
    converted: dict[str, Any] = {}
    for name, value in row.items():
        if types[name] is str and value is not None and not isinstance(value, str):
            value = orjson.dumps(value).decode()
        converted[name] = value
    return converted
