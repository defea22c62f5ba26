"""The program in a directory of its own, for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
