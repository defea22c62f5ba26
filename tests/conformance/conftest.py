"""One Blender for the whole suite: starting it anew for every case would take longer than the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.play import Play


@pytest.fixture(scope="session")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    from conformance.play import Play

    return Play(tmp_path_factory.mktemp("conformance"))
