"""Tables in Parquet, read and written with pyarrow where that is installed; it comes with the extra `parquet`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault

PAGE = 1000


def require_pyarrow(doing: str) -> Any:
    """pyarrow, which has no types. Raises EnvironmentUnfit where it is not installed."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ModuleNotFoundError as error:
        cure = "Get it: pip install 'blendwright[parquet]'. Tables as .csv and .jsonl need nothing."
        raise EnvironmentUnfit(f"{doing} takes pyarrow, which is not installed", cure=cure) from error


def read_parquet(path: Path) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """The names of the columns, and the rows, read page by page. Raises Refusal for what is no Parquet."""
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
    return Refusal.of(Fault.ARGS_INVALID, f"{path} is not Parquet: {error}", "Write it anew, or give .csv or .jsonl.")


def write_parquet(path: Path, rows: Callable[[], Iterator[Mapping[str, Any]]]) -> None:
    """`rows` is asked twice: for the types of the columns, and for the values. All rows have the same columns."""
    pyarrow = require_pyarrow("writing Parquet")
    types = _column_types(rows())
    known = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, known[type]) for name, type in types.items()])
    reading = rows()
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        while page := [_fitting(row, types) for row in islice(reading, PAGE)]:
            writer.write_table(pyarrow.Table.from_pylist(page, schema=schema))


def _column_types(rows: Iterator[Mapping[str, Any]]) -> dict[str, type]:
    """One type for each column: that of its values, or text where they are of several or of another one."""
    seen: dict[str, set[Any]] = {}
    for row in rows:
        for name, value in row.items():
            types = seen.setdefault(name, set())
            if value is not None:
                types.add(type(value))
    return {name: _common_type(types) for name, types in seen.items()}


def _common_type(types: set[Any]) -> type:
    if types in ({int, float}, {float}):
        return float
    if types in ({int}, {bool}):
        return next(iter(types))
    return str


def _fitting(row: Mapping[str, Any], types: Mapping[str, type]) -> dict[str, Any]:
    return {
        name: orjson.dumps(value).decode()
        if types[name] is str and value is not None and not isinstance(value, str)
        else value
        for name, value in row.items()
    }
