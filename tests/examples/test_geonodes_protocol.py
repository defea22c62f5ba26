"""The plans under examples/geonodes/protocol: each is done with its gates passed, and gives the same scene in every process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects.registry import parse_plan, render

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANS = sorted((EXAMPLES / "geonodes" / "protocol").glob("*.json"))


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_there_are_five_and_the_readme_tells_of_each() -> None:
    assert len(PLANS) >= 5
    told = (EXAMPLES / "README.md").read_text()
    for path in PLANS:
        assert f"`{path.relative_to(EXAMPLES)}`" in told
        assert parse_plan(read(path)).dialect == "geonodes"


def played(place: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """All of them in one scene, on a Blender of their own: the hash after each, and the building with fewer floors."""
    hashes: dict[str, str] = {}
    with blendwright.open(place, spare=False) as scene:
        for path in PLANS:
            result = render(scene.run(read(path)))
            assert (result["status"], result["done"]) == ("done", True), (path.stem, result["gates"], result["error"])
            hashes[path.stem] = scene.hash
        lower = scene.call("geonodes.set_modifier_input", object_name="Building", socket="Floors", value=3)
        judged = scene.call("geonodes.gates", object_name="Building")
        assert lower.ok and judged.ok and judged.result is not None
    return hashes, dict(judged.result)


@pytest.mark.proves("GN-EXAMPLE-02")
def test_every_example_is_done_and_the_same_in_two_processes(tmp_path: Path) -> None:
    hashes, building = played(tmp_path / "one")
    assert (hashes, building) == played(tmp_path / "two")
    assert len(set(hashes.values())) == len(PLANS)
    assert building["success"] and 10 < building["geometry"]["size"][2] < 25, "three floors, a roof house and a mast"
