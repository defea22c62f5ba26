"""The Blenders beside that of this environment which tests use: made by `make blenders`, with the command that users have."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from blendwright.bridge.environments.interpreters import find_interpreter
from blendwright.bridge.environments.records import RECORD
from blendwright.bridge.environments.series import own_blender, series_named

# Where `make blenders` puts them, or wherever else somebody has them.
DATA = Path(os.environ.get("BLENDWRIGHT_TEST_DATA") or Path(__file__).resolve().parents[3] / ".envs")


def use_blender(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What `--blender` is to be for a series. Where there is none, the test is skipped, and says why."""
    series = series_named(name)
    assert series is not None
    if own_blender() == series.version:
        return name
    record = DATA / "blendwright" / "blenders" / name / RECORD
    if not record.is_file() or json.loads(record.read_text())["blender"] != series.version:
        if find_interpreter(series.python) is None:
            pytest.skip(f"Blender {name} needs Python {series.python_text}, which is not here")
        pytest.skip(f"there is no environment of Blender {series.version} here: run `make blenders`")
    monkeypatch.setenv("XDG_DATA_HOME", str(DATA))
    return name
