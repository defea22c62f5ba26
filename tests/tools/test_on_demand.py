"""Tools of the catalogue are loaded when something of them is asked for, and are then what they always were."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path

import pytest

import blendwright
from blendwright.tools.catalog import NAMES
from blendwright.tools.on_demand import is_loaded, load_on_demand, name_of, tool_class
from support.suite.in_one_test import in_one_test

SOURCE = Path(blendwright.__file__).parent


@in_one_test({name: name for name in NAMES})
def test_the_first_look_makes_it_the_tool(name: str) -> None:
    tool = load_on_demand(name)
    assert not is_loaded(tool) and name_of(tool) == name and not is_loaded(tool)
    assert tool.version >= 1
    assert is_loaded(tool) and type(tool) is tool_class(name)
    assert vars(tool) == {} and tool.name == name_of(tool) == name
    assert tool.__doc__ == tool_class(name).__doc__


def test_looking_at_its_class_is_enough() -> None:
    assert load_on_demand("mesh.create").__class__ is tool_class("mesh.create")


def test_many_threads_may_look_at_once() -> None:
    for _ in range(50):
        tool = load_on_demand("camera.look_at")
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(attrgetter("name"), [tool] * 8)) == {"camera.look_at"}


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


def test_nobody_asks_for_the_type_of_a_tool_which_may_not_be_loaded() -> None:
    files = [path for path in SOURCE.rglob("*.py") if path.name != "on_demand.py"]
    assert len(files) > 300
    assert [path.name for path in files if re.search(r"\btype\((?:\w+\.)?_?tool\)", path.read_text())] == []
