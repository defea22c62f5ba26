"""Kinds of files by name: what is data, and what arguments that are not checked yet may write."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import pytest

from blendwright.tool_api.file_kinds import (
    ALL_DATA_SUFFIXES,
    CONFIGURATION_NAMES,
    is_data,
    may_write_executables,
    plain_name,
)
from blendwright.tools import catalog

MODEL = catalog.tools()["python.run"].args_model


@pytest.mark.parametrize("suffix", sorted(ALL_DATA_SUFFIXES))
def test_every_listed_suffix_is_data_in_any_case(suffix: str) -> None:
    assert is_data(PurePath(f"/out/result{suffix}")) and is_data(PurePath(f"/out/result{suffix.upper()}"))
    assert not is_data(PurePath(f"/out/result{suffix}.py")) and not is_data(PurePath(f"/out/{suffix}"))


@pytest.mark.parametrize("pattern", CONFIGURATION_NAMES)
def test_every_configuration_name_is_recognized_in_any_spelling(pattern: str) -> None:
    name = pattern.replace("*", "x")
    for spelling in (name, name.upper(), f"{name}.", f"{name} ", name.replace(".", "\uff0e"), f"\u200b{name}"):
        assert not is_data(PurePath("/project") / spelling), spelling


def test_the_plain_name_ignores_what_lenient_file_systems_ignore() -> None:
    assert plain_name("Node\u200b_MODULES. ") == "node_modules" and plain_name("\uff0egit") == ".git"
    assert plain_name("r\u00e9sum\u00e9.txt") == plain_name("re\u0301sume\u0301.txt")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, False),
        ({"files": None}, False),
        ({"files": {"in": ["x.py"]}}, False),
        ({"files": {"out": ["x.png"]}}, False),
        ({"files": {"out": ["x.png", "x.py"]}}, True),
        ({"files": {"out": "${outputs}"}}, True),
        ({"files": {"out": [{"$param": "path"}]}}, True),
        ({"files": "${files}"}, True),
    ],
)
def test_arguments_that_are_filled_in_later_may_write_anything(args: dict[str, Any], expected: bool) -> None:
    assert may_write_executables(MODEL, args) is expected
