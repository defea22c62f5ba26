"""Tools of the catalogue are loaded when they are looked up."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from blendwright.tools.catalog import NAMES, tools
from blendwright.tools.lazy_tools import LazyTools, tool_class
from support.engine.trial_tools import TOOLS


def test_every_name_of_the_catalogue_has_its_tool() -> None:
    catalogue = LazyTools(NAMES)
    assert list(catalogue) == sorted(NAMES) and len(catalogue) == len(NAMES)
    for name, tool in catalogue.items():
        assert type(tool) is tool_class(name) and tool.name == name


def test_only_a_tool_that_is_looked_up_is_loaded() -> None:
    program = (
        "import sys\n"
        "from blendwright.tools.catalog import NAMES, tools\n"
        "assert 'mesh.create' in tools() and len(tools()) == len(list(tools()))\n"
        "tools()['camera.look_at'].name\n"
        "print(*(name for name in NAMES if f'blendwright.tools.{name}' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["camera.look_at"]


def test_all_callers_get_the_same_tool() -> None:
    catalogue = LazyTools(["camera.look_at"])
    with ThreadPoolExecutor(8) as threads:
        looked_up = set(threads.map(catalogue.__getitem__, ["camera.look_at"] * 50))
    assert looked_up == {catalogue["camera.look_at"]}


def test_a_name_that_is_not_in_the_catalogue_is_not_looked_for() -> None:
    catalogue: Any = LazyTools(["camera.look_at"])
    assert "mesh.create" not in catalogue and catalogue.get("mesh.create") is None
    with pytest.raises(KeyError):
        catalogue["mesh.create"]


def test_other_tools_replace_those_of_the_same_name() -> None:
    more = tools().with_others(TOOLS)
    assert all(more[tool.name] is tool for tool in TOOLS)
    assert set(more) == {*NAMES, *(tool.name for tool in TOOLS)}
    assert more.from_catalog == set(NAMES) - {tool.name for tool in TOOLS}


def test_a_name_without_a_tool_in_its_file_is_a_defect_that_says_so() -> None:
    with pytest.raises(LookupError, match="defines no tool named"):
        tool_class("mesh.primitive_shapes")


def test_hashes_that_are_known_load_nothing() -> None:
    program = (
        "import sys\n"
        "from blendwright.tools import catalog\n"
        "catalog.fingerprint()\n"
        "print(*(name for name in catalog.NAMES if f'blendwright.tools.{name}' in sys.modules))\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    # The first one may find an empty cache, and fills it.
    assert runs[1].stdout.split() == []
