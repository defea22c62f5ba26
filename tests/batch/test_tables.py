from __future__ import annotations

from pathlib import Path

import pytest

from blendwright.batch.input.tables import seed_rows, table_rows
from blendwright.values.errors import EnvironmentUnfit, Refusal


def table(place: Path, name: str, text: str | bytes) -> Path:
    path = place / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_seeds_are_a_half_open_range() -> None:
    assert [params for params, _ in seed_rows("3:6")] == [{"seed": 3}, {"seed": 4}, {"seed": 5}]


@pytest.mark.parametrize("text", ["5:5", "6:3", "3", "a:b", "0:1:2", ""])
def test_what_is_no_range_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="not a range of seeds"):
        list(seed_rows(text))


def test_values_of_csv_are_json_where_they_are_json(tmp_path: Path) -> None:
    path = table(tmp_path, "t.csv", 'width,name,on,at\n2,oak,true,"[1, 2.5]"\n007,,false,\n')
    assert list(table_rows(path)) == [
        ({"width": 2, "name": "oak", "on": True, "at": [1, 2.5]}, "t.csv:2"),
        ({"width": "007", "on": False}, "t.csv:3"),
    ]


def test_spreadsheets_begin_their_files_with_a_mark(tmp_path: Path) -> None:
    assert list(table_rows(table(tmp_path, "t.csv", b"\xef\xbb\xbfseed\r\n1\r\n"))) == [({"seed": 1}, "t.csv:2")]


def test_rows_of_json_lines_are_objects(tmp_path: Path) -> None:
    path = table(tmp_path, "t.jsonl", '{"seed": 1, "size": [1, 2]}\n\n{"seed": 2}\n')
    assert list(table_rows(path)) == [({"seed": 1, "size": [1, 2]}, "t.jsonl:1"), ({"seed": 2}, "t.jsonl:3")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "row 1: it has no header"),
        ("t.csv", "a,b\n1\n", "row 2: it has 1 values, but the header has 2 names"),
        ("t.csv", "a,my width\n1,2\n", "row 1: 'my width' is not a valid name of a parameter"),
        ("t.csv", "a,a\n1,2\n", "row 1, column a: the name occurs twice"),
        ("t.csv", 'a\n"1\n', "row 2: it is not valid CSV"),
        ("t.csv", b"a\n\xff\xfe\n", "it is not UTF-8 text"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "row 2: it is not an object"),
        ("t.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', "row 2"),
        ("t.jsonl", '{"a": 1}\n{"a": NaN}\n', "row 2"),
        ("t.parquet", "no parquet", "is not a valid Parquet file"),
        ("t.txt", "a", "is not a supported table"),
    ],
)
def test_what_is_wrong_names_file_row_and_column(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(Refusal) as refused:
        list(table_rows(table(tmp_path, name, text)))
    assert message in refused.value.message
    assert name in refused.value.message
    assert refused.value.cure


def test_parquet_is_read_as_it_is_typed(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"seed": 1, "name": "oak", "at": [1.0, 2.0]}, {"seed": 2, "name": None, "at": None}]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "t.parquet")
    assert list(table_rows(tmp_path / "t.parquet")) == [
        ({"seed": 1, "name": "oak", "at": [1.0, 2.0]}, "t.parquet:1"),
        ({"seed": 2}, "t.parquet:2"),
    ]


def test_a_value_that_no_program_takes_names_its_column(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"when": pyarrow.array([0], pyarrow.timestamp("s"))}), tmp_path / "t.parquet")
    with pytest.raises(Refusal, match=r"row 1, column when: it has the unsupported type datetime"):
        list(table_rows(tmp_path / "t.parquet"))


def test_without_pyarrow_the_cure_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(EnvironmentUnfit) as unfit:
        list(table_rows(table(tmp_path, "t.parquet", "")))
    assert unfit.value.cure is not None
    assert "blendwright[parquet]" in unfit.value.cure
