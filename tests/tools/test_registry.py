"""Hashes of the catalogue are recorded, and never believed when the tools are not the ones that they were made from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from blendwright.tools import registry
from blendwright.tools.catalog import CATALOG
from blendwright.values.canonical import digest


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "recorded.json"
    monkeypatch.setattr(registry, "RECORDED", path)
    registry.recorded.cache_clear()
    yield path
    registry.recorded.cache_clear()


def test_what_is_recorded_is_what_the_declarations_say() -> None:
    for tool in CATALOG:
        assert registry.fingerprint(tool) == digest(tool.declaration()), tool.name


def test_a_record_of_these_sources_is_used(record: Path) -> None:
    record.write_text(json.dumps({"sources": registry.sources(), "tools": {CATALOG[0].name: "recorded"}}))
    assert registry.fingerprint(CATALOG[0]) == "recorded"
    assert registry.fingerprint(CATALOG[1]) == registry.computed(CATALOG[1])


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", json.dumps({"sources": "of before", "tools": {CATALOG[0].name: "recorded"}})]
)
def test_without_a_record_of_these_sources_the_hash_is_computed(record: Path, text: str | None) -> None:
    if text is not None:
        record.write_text(text)
    assert registry.fingerprint(CATALOG[0]) == digest(CATALOG[0].declaration())


def test_a_tool_that_was_made_from_another_is_never_taken_for_it(record: Path) -> None:
    shipped = CATALOG[0]
    record.write_text(json.dumps({"sources": registry.sources(), "tools": {shipped.name: "recorded"}}))
    newer = cast("Any", type)(shipped.__name__, (shipped,), {**shipped.__dict__, "version": shipped.version + 1})
    assert registry.fingerprint(newer) == digest(newer.declaration()) != registry.computed(shipped)


def test_an_edited_source_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tools").mkdir()
    source = tmp_path / "tools" / "one.py"
    monkeypatch.setattr(registry, "_PACKAGE", tmp_path)
    source.write_text("a = 1\n")
    before = registry.sources()
    source.write_text("a = 2\n")
    edited = registry.sources()
    (tmp_path / "tools" / "two.py").touch()
    assert len({before, edited, registry.sources()}) == 3
