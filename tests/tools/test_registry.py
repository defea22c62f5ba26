"""Hashes of declarations come from the cache, and only where it was made from the tools that are here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from blendwright.tools import registry, registry_cache
from blendwright.tools.catalog import NAMES, tool_classes, tools
from blendwright.tools.lazy_tools import LazyTools
from blendwright.util.canonical import digest
from blendwright.wire import package_version

FIRST, SECOND = tool_classes()[:2]
FORGED = "0" * 64


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's cache directory of ours, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _forget()
    yield tmp_path / "blendwright"
    _forget()


def _forget() -> None:
    registry.cached_hashes.cache_clear()
    registry.sources.cache_clear()
    package_version.package_hash.cache_clear()


def test_hashes_are_those_of_the_declarations() -> None:
    hashes = registry.fingerprints(tools())
    for tool in tool_classes():
        assert hashes[tool.name] == digest(tool.declaration()), tool.name


def test_what_was_computed_is_stored_and_used_by_the_next_process(cache: Path) -> None:
    hashes = registry.fingerprints(tools())
    assert registry_cache.load(cache, registry.sources()) == hashes
    assert _computed_in_a_new_process() == "0"


def test_without_a_cache_a_new_process_computes(cache: Path) -> None:
    assert _computed_in_a_new_process() == str(len(NAMES))


def _computed_in_a_new_process() -> str:
    program = (
        "from blendwright.tools import catalog, registry\n"
        "catalog.fingerprint()\n"
        "print(registry.computed.cache_info().currsize)"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_a_tool_that_is_missing_in_the_cache_is_computed_and_added(cache: Path) -> None:
    registry_cache.store(cache, registry.sources(), {FIRST.name: FORGED})
    hashes = registry.fingerprints(LazyTools([FIRST.name, SECOND.name]))
    assert hashes == {FIRST.name: FORGED, SECOND.name: registry.computed(SECOND)}
    assert registry_cache.load(cache, registry.sources()) == hashes


def test_hashes_of_other_sources_are_not_used(cache: Path) -> None:
    registry_cache.store(cache, "a key of other sources", {FIRST.name: FORGED})
    assert registry.fingerprints(LazyTools([FIRST.name])) == {FIRST.name: digest(FIRST.declaration())}


def test_a_tool_that_was_made_from_another_is_never_taken_for_it(cache: Path) -> None:
    registry_cache.store(cache, registry.sources(), {FIRST.name: FORGED})
    newer = cast("Any", type)(FIRST.__name__, (FIRST,), {**FIRST.__dict__, "version": FIRST.version + 1})
    assert registry.fingerprints(tools().with_others([newer()]))[FIRST.name] == digest(newer.declaration())
    assert registry_cache.load(cache, registry.sources())[FIRST.name] == FORGED


def test_a_worker_with_a_private_home_is_given_what_is_known(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes = registry.fingerprints(LazyTools([FIRST.name]))
    registry.hand_over(tmp_path / "private")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "private"))
    # A worker makes the same schemas as the core even where its pydantic would write them otherwise.
    monkeypatch.setattr("pydantic.VERSION", "another")
    registry.sources.cache_clear()
    registry.cached_hashes.cache_clear()
    assert registry.cached_hashes() == hashes


def test_every_package_that_the_catalogue_imports_is_among_the_sources() -> None:
    program = "import sys\nfrom blendwright.tools import catalog\ncatalog.tool_classes()\n"
    program += "print(*(name for name in sys.modules if name.startswith('blendwright.')))"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[1] for name in listed} == set(package_version.FOLDERS) - {"blender"}


def test_an_edited_source_is_noticed(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "tools" / "one.py"
    source.parent.mkdir()
    monkeypatch.setattr(package_version, "PACKAGE", tmp_path)
    hashes = {
        _sources_with(source, "a = 1\n"),
        _sources_with(source, "a = 2\n"),
        _sources_with(source.with_name("two.py"), ""),
    }
    assert len(hashes) == 3


def _sources_with(path: Path, text: str) -> str:
    path.write_text(text)
    package_version.package_hash.cache_clear()
    registry.sources.cache_clear()
    return registry.sources()
