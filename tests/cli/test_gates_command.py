"""blendwright gates: the envelope for machines, a table for people, and an exit code for both."""

from __future__ import annotations

import json

from support.processes.shell import Shell
from support.trees.node_trees import CUBE, OUT, link, node, payload


def test_the_envelope_and_the_exit_code_say_whether_the_gates_are_passed(shell: Shell) -> None:
    asked = payload([*node("box", CUBE), link(("box", "Mesh"), OUT)])
    shell("call", "geonodes.node_tree", "--args", json.dumps(asked), code=0)
    passed = shell("gates", "Thing", "--modifier", "Nodes", "--gate", "MAX_SIZE=1,1,1", "--json", code=0).document
    assert passed["success"] is True
    assert passed["failed_gates"] == passed["messages"] == []
    spoken = shell("gates", "Thing", "--gate", "MIN_VERTICES=9", "--gate", "HAS_ATTRIBUTE=9", code=1).out
    assert "failed: MIN_VERTICES, HAS_ATTRIBUTE" in spoken
    assert "8 vertices" in spoken


def test_what_cannot_be_judged_is_told_with_a_cure(shell: Shell) -> None:
    shell("new", code=0)
    error = shell("gates", "Thing", "--gate", "MIN_VERTICES=many", "--json", code=2).document["error"]
    assert error["message"] == "MIN_VERTICES takes a whole number that is not negative" and error["cure"]
