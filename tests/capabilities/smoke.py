"""The commands of the core on a new workspace, in one process. Run with a copy of the source first on PYTHONPATH, in an empty directory.

  python smoke.py SOURCE REMOVED...

`SOURCE` is the copy, `REMOVED` are the capabilities that are not in it. Ends with 0 when everything works.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BOX: dict[str, Any] = {
    "operation_id": "box",
    "tool_name": "mesh.create_primitive",
    "args": {"kind": "cube", "name": "Box"},
    "safety_level": "safe_write",
    "depends_on": [],
}
PLAN: dict[str, Any] = {"request_id": "smoke", "operations": [BOX]}


def works(*arguments: str) -> None:
    """Run one command. It must end well."""
    from blendwright.cli.main import main

    sys.argv = ["blendwright", *arguments]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, (arguments, stop.code)


def last_tool() -> str:
    """The tool of the commit whose scene is the current one."""
    from blendwright.workspace.reading import read_journal

    with read_journal(".blendwright") as journal:
        assert journal.head is not None
        return journal.head.tool


def smoke(source: Path, removed: set[str]) -> None:
    import blendwright
    from blendwright.capabilities import NAMES, capabilities
    from blendwright.cli.commands import COMMANDS

    assert Path(blendwright.__file__).is_relative_to(source), blendwright.__file__
    found = {one.name for one in capabilities()}
    assert not found & removed, found
    assert removed or found == set(NAMES), set(NAMES) - found
    for one in capabilities():
        assert set(one.commands) <= set(COMMANDS)

    Path("plan.json").write_text(json.dumps(PLAN))
    works("new")
    works("validate", "plan.json")
    works("preview", "plan.json", "--json")
    works("run", "plan.json", "--json")
    lamp = json.dumps({"name": "Lamp", "type": "POINT"})
    works("call", "light.create", "--args", lamp, "--json")
    assert last_tool() == "light.create"
    works("log", "--json")
    works("undo", "--json")
    assert last_tool() == BOX["tool_name"]


if __name__ == "__main__":
    smoke(Path(sys.argv[1]), set(sys.argv[2:]))
