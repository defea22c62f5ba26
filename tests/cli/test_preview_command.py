"""blendwright preview, as a user types it."""

from __future__ import annotations

import json
from typing import Any

import blendwright
from support.plans.documents import box
from support.processes.shell import Shell


def write(shell: Shell, document: Any) -> str:
    (shell.place / "plan.json").write_text(json.dumps(document))
    return "plan.json"


def test_it_shows_the_result_beside_a_workspace_that_is_in_use(shell: Shell) -> None:
    move = box("b", "a", tool_name="object.transform", args={"name": "Box", "location": [0, 0, 2]})
    plan = write(shell, {"request_id": "cli", "operations": [box("a"), move]})
    with blendwright.open(shell.place / ".blendwright", spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        before = scene.hash, scene.journal.head
        shown = shell("preview", plan, "--image", "out.png", "--json", code=0)
        assert (scene.hash, scene.journal.head) == before
    document = shown.document
    assert list(document) == ["dialect", "ok", "result", "report"] and document["ok"] is True
    assert list(document["result"]) == ["created", "changed", "removed", "renamed"]
    assert {"kind": "objects", "name": "Box a"} in document["result"]["created"]
    (changed,) = document["result"]["changed"]
    assert changed["properties"] == [{"property": "transform.location", "old": [0, 0, 0], "new": [0, 0, 2]}]
    assert document["report"]["totals"] == {"created": 1, "changed": 1, "removed": 0, "renamed": 0}
    assert (shell.place / "out.png").read_bytes().startswith(b"\x89PNG") and "out.png" in shown.err


def test_it_starts_no_workspace_and_speaks_to_people(shell: Shell) -> None:
    gone = box("b", "a", tool_name="object.delete", args={"name": "Nobody"}, safety_level="destructive")
    plan = write(shell, {"request_id": "cli", "operations": [box("a"), gone]})
    spoken = shell("preview", plan, code=1).out
    assert "+ objects Box a" in spoken and "TARGET_NOT_FOUND" in spoken and "repair" in spoken
    assert spoken.splitlines()[-1].startswith("would fail 1 of 2 operations: 1 created")
    assert not (shell.place / ".blendwright").exists()


def test_a_plan_with_findings_is_refused_without_blender(shell: Shell) -> None:
    plan = write(shell, {"request_id": "x", "operations": [box("a", tool_name="no.tool")]})
    document = shell("preview", plan, "--json", code=2).document
    assert (document["ok"], document["report"]["status"]) == (False, "refused")
    assert document["report"]["operations"][0]["findings"][0]["pointer"] == "/operations/0/tool_name"
    assert document["result"] == {"created": [], "changed": [], "removed": [], "renamed": []}
    assert shell("preview", "missing.json", "--json", code=2).document["result"]["error_code"] == "SCHEMA_INVALID"


def test_it_shows_what_would_take_the_place_of_the_last_plan(shell: Shell) -> None:
    large = box("a", args={"kind": "cube", "name": "Box a", "size": 9})
    plan = write(shell, {"request_id": "old", "operations": [large]})
    shell("run", plan, code=0)
    plan = write(shell, {"request_id": "new", "operations": [box("a"), box("b")]})
    refused = shell("preview", plan, code=1).out
    assert "--instead" in refused
    spoken = shell("preview", plan, "--instead", code=0).out
    assert "+ objects Box b" in spoken and "+ objects Box a" not in spoken
    assert spoken.splitlines()[-1].startswith("would succeed 2 of 2 operations: 1 created, 1 changed, 0 removed")
    assert "In place of what led to commit 2" in shell("run", plan, "--instead", code=0).out
    back = shell("undo", "--plan", code=0).out
    assert "at commit 2 (was 4)" in back and "replaced is back" in back


def test_an_earlier_plan_is_replaced_and_what_came_after_it_stays(shell: Shell) -> None:
    plan = write(shell, {"request_id": "walls", "operations": [box("a")]})
    shell("run", plan, code=0)
    shell("call", "object.transform", "--args", '{"object": "Box a", "location": [0, 0, 3]}', code=0)
    plan = write(shell, {"request_id": "walls", "operations": [box("a"), box("b")]})
    assert "no plan 'nothing' led to this scene" in shell("run", plan, "--instead-of", "nothing", code=2).err
    spoken = shell("preview", plan, "--instead-of", "walls", code=0).out
    assert spoken.splitlines()[-1].startswith("would succeed 3 of 3 operations: 1 created, 0 changed, 0 removed")
    ran = shell("run", plan, "--instead-of", "walls", code=0)
    assert "Run again after it: " in ran.out + ran.err and "In place of what led to commit 3" in ran.out
    inspected = shell("call", "object.inspect", "--args", '{"object": "Box a"}', "--json", code=0).document
    assert inspected["result"]["location"] == [0, 0, 3]
    assert "replaced is back" in shell("undo", "--plan", code=0).out
