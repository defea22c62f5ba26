"""What may turn out otherwise a second time runs in a plan like anything else: what it left is kept, and its receipt says so."""

from __future__ import annotations

import pytest

from blendwright.dialects.registry import parse_plan
from support.engine.engine import Engine

pytestmark = pytest.mark.usefixtures("checked")


def cut_a_hole() -> dict[str, object]:
    def op(id: str, tool: str, args: dict[str, object], level: str = "safe_write") -> dict[str, object]:
        return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [], "safety_level": level}

    knife = {"type": "BOOLEAN", "operation": "DIFFERENCE", "object": "Knife"}
    return {
        "request_id": "hole",
        "operations": [
            op("a", "modifier.apply", {"object": "Wall", "modifier": "Hole", "type": "BOOLEAN"}, "destructive"),
            op("b", "modifier.add", {"object": "Wall", "name": "Hole", "settings": knife}),
            op("c", "mesh.create_primitive", {"kind": "cube", "name": "Wall"}),
            op("d", "mesh.create_primitive", {"kind": "cube", "name": "Knife", "location": [1, 0, 0]}),
            op("e", "mesh.measure", {"object": "Wall"}, "read_only"),
        ],
    }


@pytest.mark.proves("OPS-ORDER-03")
def test_what_may_turn_out_otherwise_is_pinned_by_a_checkpoint_and_told_in_its_receipt(engine: Engine) -> None:
    report = engine.run(parse_plan(cut_a_hole()))
    assert report.ok, list(report.all_findings())
    done = {one.operation_id: one for one in report.operations}
    assert list(done) == ["c", "d", "b", "a", "e"], "what makes and what uses say the order"
    receipt, commit = done["a"].receipt, done["a"].commit
    assert receipt is not None and commit is not None
    assert receipt["determinism_class"] == "nondeterministic"
    assert not engine.journal.show(commit).replayable
    checkpoint = engine.journal.checkpoints.route(commit).checkpoint
    assert checkpoint is not None and checkpoint.commit == commit, "nobody has to do it again"
    # A Blender that is lost comes back with the very same scene.
    before = engine.scene.hash
    engine.kill_worker()
    assert engine.call("scene.find", {"name": "Wall"}).ok
    assert engine.scene.hash == before
