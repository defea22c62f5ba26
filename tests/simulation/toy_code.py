"""What safe and trusted Python does in the simulation: a line of code says it, and the simulated Blender, the oracle and whoever asks agree
on its meaning. `print("adds NAME")` is code that any Python could run, so it passes the core's own reading of it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blendwright.engine.code.resource_guard import ResourceGuard
from blendwright.values.faults import Fault
from blendwright.wire.methods import PRINTED_FILE
from simulation.toy_scene import CODE, Impossible, ToyScene

BY_CODE, RUNS_BY_ITSELF = "by code", "a script that runs by itself"
ADDS, KEEPS, RAISES, CHANCE, SCRIPT = "adds", "keeps", "raises", "chance", "script"
GARBAGE, NOTHING, LINK, NONSENSE, WRITES = "garbage", "nothing", "link", "nonsense", "writes"
# What may be kept, of what safe code can do; trusted code keeps to these.
SOUND = (ADDS, KEEPS, CHANCE)
# What safe code leaves in the place of a scene, or says instead of an answer: never kept.
NEVER_KEPT = (RAISES, SCRIPT, GARBAGE, NOTHING, LINK, NONSENSE)
_LINE = re.compile(r'print\("(\w+) (.+)"\)')


def code(deed: str, name: str) -> str:
    return f'print("{deed} {name}")'


def meaning(args: Mapping[str, Any]) -> tuple[str, str]:
    """What a call of the tool does, and to what."""
    found = _LINE.fullmatch(str(args["code"]))
    assert found is not None, args["code"]
    return found[1], found[2]


def run(scene: ToyScene, params: Mapping[str, Any], chance: random.Random, scratch: Path) -> list[list[str]]:
    """What the code does to the scene of its process; returns what changed. Raises Impossible where the code does."""
    deed, name = meaning(params["args"])
    (scratch / PRINTED_FILE).write_text(f"{deed} {name}\n")
    match deed:
        case "raises":
            raise Impossible(Fault.EXECUTION_FAILED, "the code raised")
        case "adds" | "writes":
            scene.put(name, BY_CODE)
        case "chance":
            scene.put(f"{name} {chance.getrandbits(64):x}", BY_CODE)
        case "script":
            scene.put(name, RUNS_BY_ITSELF)
        case _:
            return []
    for place in params["files"].values() if deed == WRITES else ():
        Path(place).write_bytes(scene.to_bytes())
    return [["object", name, "created"]]


def save(scene: ToyScene, file: Path, last: Mapping[str, Any] | None) -> None:
    """Write the scene, or what code that ran in this process has it leave instead. `last` are the arguments of that code."""
    deed = None if last is None or last["mode"] == "trusted" else meaning(last)[0]
    file.unlink(missing_ok=True)
    match deed:
        case "garbage":
            file.write_bytes(scene.to_bytes()[:-2])
        case "nothing":
            pass
        case "link":
            other = file.with_name("elsewhere.blend")
            other.write_bytes(ToyScene().to_bytes())
            file.symlink_to(other)
        case _:
            file.write_bytes(scene.to_bytes())


def answer(args: Mapping[str, Any]) -> dict[str, Any]:
    """What the process says that ran it."""
    deed, name = meaning(args)
    if deed == NONSENSE:
        return {"output": 7, "whatever": None}
    return {"mode": args["mode"], "output": f"{deed} {name}\n", "truncated": False}


def active_content(scene: ToyScene) -> list[dict[str, str]]:
    return [
        {"what": "text", "kind": "texts", "name": name, "where": "", "digest": place}
        for name, place in sorted(scene.objects.items())
        if place == RUNS_BY_ITSELF
    ]


def difference(before: ToyScene, after: ToyScene) -> list[list[str]]:
    created = [["object", name, "created"] for name in after.objects.keys() - before.objects.keys()]
    removed = [["object", name, "removed"] for name in before.objects.keys() - after.objects.keys()]
    return sorted([*created, *removed])


def assert_kept(before: ToyScene, after: ToyScene, args: Mapping[str, Any]) -> None:
    """A committed call left exactly what its code does, on the scene that it was given."""
    deed, name = meaning(args)
    assert deed not in NEVER_KEPT, f"code that {deed} was kept"
    assert before.objects.items() <= after.objects.items(), f"code that {deed} {name} lost something of the scene"
    added = dict(after.objects.items() - before.objects.items())
    match deed:
        case "keeps":
            assert not added, f"code that changes nothing left {added}"
        case "chance":
            assert len(added) == 1 and all(each.startswith(f"{name} ") for each in added), added
        case _:
            assert added in ({name: BY_CODE}, {}), f"code that {deed} {name} left {added}"
            assert after.objects.get(name) == BY_CODE, f"what {tool_call(args)} made is not there"
    assert RUNS_BY_ITSELF not in after.objects.values(), "code left something that runs by itself"


def tool_call(args: Mapping[str, Any]) -> str:
    return f"{CODE} {' '.join(meaning(args))}"


class ToyGuard(ResourceGuard):
    """Looks at no process: the numbers of simulated workers are somebody else's. The seed says what takes too much."""

    def __enter__(self) -> Self:
        process: Any = self._process
        if process.takes_too_much():
            self._excess = "more than it may"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def same_bytes(one: Path, other: Path) -> bool:
    """Instead of `same_content`, which knows files of Blender only. True only when it is certain."""
    return one.is_file() and other.is_file() and one.read_bytes() == other.read_bytes()
