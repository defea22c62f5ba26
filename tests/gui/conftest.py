"""Windows for tests: every test here is marked `gui` and runs on each Blender that opens windows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from gui.root import PROJECT, SUITES, Root, use_root
from gui.window import OpenWindow, Window

PICTURES = PROJECT / "build" / "gui"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    files = {path for path in {item.path for item in items} if path.is_relative_to(here)}
    for item in items:
        if item.path in files:
            item.add_marker(pytest.mark.gui)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(params=list(SUITES))
def root(request: pytest.FixtureRequest) -> Iterator[Root]:
    # Not `tmp_path`: the path of a socket has at most 107 characters.
    place = Path(tempfile.mkdtemp(prefix="bw-gui-", dir="/tmp"))
    try:
        yield use_root(request.param, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def pictures(root: Root) -> Path:
    """Where pictures stay to be looked at."""
    return PICTURES / root.suite


@pytest.fixture
def open_window(root: Root, pictures: Path, request: pytest.FixtureRequest) -> Iterator[OpenWindow]:
    """Opens windows one after another. What each showed last is kept as a picture with the name of the test."""
    windows: list[Window] = []

    def open_one(*arguments: str, environment: Mapping[str, str] | None = None, factory: bool = True) -> Window:
        windows.append(Window(root, arguments, environment or {}, factory))
        return windows[-1]

    yield open_one
    for number, window in enumerate(windows):
        window.picture(pictures / f"{request.node.originalname}-{number}.png", settled=False)
        window.close()


@pytest.fixture
def window(open_window: OpenWindow) -> Window:
    return open_window()
