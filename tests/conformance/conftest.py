"""One Blender for the whole suite: starting it anew for every case would take longer than the cases."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.play import Play

CATALOGUE = Path(__file__).with_name("test_catalogue.py")


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    from conformance.play import Play

    return Play(tmp_path_factory.mktemp("conformance"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of one case come one after the other: they share its scene."""
    places = [place for place, item in enumerate(items) if item.path == CATALOGUE]
    cases: dict[str, int] = {}
    ranked = [(_rank(items[place], cases), items[place]) for place in places]
    for place, (_, item) in zip(places, sorted(ranked, key=lambda pair: pair[0]), strict=True):
        items[place] = item


def _rank(item: pytest.Item, cases: dict[str, int]) -> float:
    callspec = getattr(item, "callspec", None)
    return cases.setdefault(callspec.id, len(cases)) if callspec is not None else float("inf")


_status: list[int] = []


def pytest_sessionfinish(exitstatus: int) -> None:
    _status.append(int(exitstatus))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Blender 4.5 does not come to an end by itself once it has rendered."""
    bpy = sys.modules.get("bpy")
    if bpy is not None and bpy.app.version < (5, 0, 0) and not hasattr(config, "workerinput"):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_status[-1] if _status else 0)
