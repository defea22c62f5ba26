"""python_run: Python as a tool of its own, with what it printed and changed, a picture, the line of a failure, and the real time limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from blendwright.policy.policy import Costs
from blendwright.server.context import ServerContext
from blendwright.server.serve import policy_costs
from blendwright.server.service import TOOLS, declaration
from blendwright.server.tools.python import summary_of
from support.hosts.mcp import ERAS, call, cube, operation, plan, talk

ERA = ERAS[-1]
CUBE = "import bpy\nbpy.ops.mesh.primitive_cube_add()\nprint(bpy.context.object.name)"


def run(context: ServerContext, code: str, **args: Any) -> dict[str, Any]:
    return call(context, ERA, "python_run", {"code": code, **args}).structured_content


def findings(answer: Any) -> list[dict[str, Any]]:
    return answer.structured_content["details"]["findings"]


def test_it_answers_what_was_printed_and_changed_and_with_a_picture_if_asked(context: ServerContext) -> None:
    answer = call(context, ERA, "python_run", {"code": CUBE, "image": True})
    result = answer.structured_content["result"]
    assert result["printed"] == "Cube\n"
    assert "Cube" in result["changed"]["created"]["objects"]
    assert [block.type for block in answer.content] == ["text", "image"]
    assert len(answer.content[0].text) < 2000


def test_it_audits_what_it_made_where_that_is_asked(context: ServerContext) -> None:
    code = "import bpy\nbpy.ops.mesh.primitive_cube_add(location=(70, 0, 9))\nbpy.context.object.name = 'AuditedInAir'"
    assert run(context, code, audit=True)["result"]["audit"]["checked"] == "all"
    only = {"objects": ["AuditedInAir"], "rules": ["floating"]}
    assert run(context, "print(1)", audit=only)["result"]["audit"]["findings"][0].startswith("floating: AuditedInAir")
    assert "audit" not in run(context, "print(1)")["result"]
    asked = run(context, "print(1)", audit={"objects": ["AuditedInAir"], "rules": ["inside_out"]})["result"]["audit"]
    assert asked["checked"] == "inside_out" and asked["findings"] == []
    code = "import bpy\nbpy.data.objects.new('AuditedNever', None)"
    wrong = run(context, code, audit={"rulez": []})
    [finding] = wrong["details"]["findings"]
    assert finding["pointer"] == "/audit/rulez" and not wrong["ok"]
    assert run(context, "import bpy\nprint('AuditedNever' in bpy.data.objects)")["result"]["printed"] == "False\n"


def test_an_audit_is_no_gate_of_code_and_settings_that_changed_are_told(context: ServerContext) -> None:
    code = "import bpy\nbpy.context.scene.gravity = (0, 0, -1)"
    refused = run(context, code, audit={"require": "warning"})
    assert refused["details"]["findings"][0]["pointer"] == "/audit/require"
    assert run(context, code)["result"]["changed"] == {"changed": {"scenes": "Scene"}}
    assert run(context, code)["result"]["changed"] == {}, "they are so already"
    blind = "import bpy\nbpy.context.scene.view_layers[0].use = False"
    assert run(context, blind, audit=True)["result"]["audit"]["nothing"].startswith("a render shows no object")
    run(context, blind.replace("False", "True"))


def test_what_a_later_blender_lacks_is_not_told(context: ServerContext) -> None:
    code = "import bpy\nbpy.data.materials.new('Later').use_nodes = True\nprint('done')"
    assert run(context, code)["result"]["printed"] == "done\n"


def test_code_that_was_sent_is_mended_by_an_edit(context: ServerContext) -> None:
    refused = run(context, "box = {}\nbox.__setitem__('a', 7)\nprint(box['a'])")
    assert "__setitem__" in refused["message"] and "d[key] = value" in refused["details"]["findings"][0]["cure"]

    def edit(old: str, new: str) -> dict[str, Any]:
        args = {"code_edit": {"replace": [{"old": old, "new": new}]}}
        return call(context, ERA, "python_run", args).structured_content

    assert edit("box.__setitem__('a', 7)", "box['a'] = 7")["result"]["printed"] == "7\n"
    assert edit("= 7", "= 8")["result"]["printed"] == "8\n", "of what ran last"
    misfit = edit("= 7", "= 9")
    assert misfit["details"]["findings"][0]["pointer"] == "/code_edit/replace/0/old"
    wrong: list[tuple[dict[str, Any], str]] = [({"code": "print(1)", "code_edit": {}}, "/code_edit"), ({}, "/code")]
    for args, pointer in wrong:
        answer = call(context, ERA, "python_run", args).structured_content
        assert (answer["ok"], answer["details"]["findings"][0]["pointer"]) == (False, pointer)


def test_it_writes_files_of_the_roots(context: ServerContext) -> None:
    file = context.workspace.parent / "note.txt"
    written = run(context, "open(files['note.txt'], 'w').write('done')", files={"out": [str(file)]})
    assert written["result"]["files"] == [str(file)] and file.read_text() == "done"


def test_a_failure_has_the_line_of_the_code_and_changes_nothing(context: ServerContext) -> None:
    count = "import bpy\nprint(len(bpy.data.objects))"
    before = run(context, count)["result"]["printed"]
    broken = run(context, "import bpy\nbpy.data.objects.new('Lost', None)\nbpy.data.objects['None']")
    assert not broken["ok"] and broken["message"].startswith("line 3: the code raised KeyError")
    refused = run(context, "print(1)\nimport socket")
    assert refused["message"].startswith("line 2: code must not import 'socket'")
    assert run(context, count)["result"]["printed"] == before


def test_code_that_runs_out_of_time_leaves_what_it_had_printed(context: ServerContext) -> None:
    answer = run(context, "print('so far')\nwhile True: pass", timeout_s=1.5)
    assert answer["error_code"] == "timeout"
    assert answer["details"]["partial_work"]["printed"] == "so far\n"


def test_more_time_than_the_contract_gives_is_refused_before_anything_runs(context: ServerContext) -> None:
    refused = run(context, "print(1)", timeout_s=121)
    [finding] = refused["details"]["findings"]
    assert finding["pointer"] == "/timeout_s" and "120 s are allowed" in refused["message"]
    asked = operation("a", "python.run", {"code": "print(1)", "timeout_ms": 121_000})
    answer = call(context, ERA, "plan_execute", {"plan": plan("long code", cube("b", "Never"), asked)})
    [finding] = findings(answer)
    assert finding["pointer"].endswith("/args/timeout_ms") and "constraints.code_seconds" in finding["cure"]
    whole = {"plan": plan("long run", cube("b", "Never")), "timeout_s": 3601}
    answer = call(context, ERA, "plan_execute", whole)
    [finding] = findings(answer)
    assert "3600 s are allowed" in answer.structured_content["message"] and "constraints.run_seconds" in finding["cure"]
    found = call(context, ERA, "scene_find", {"name": "Never"}).structured_content
    assert found["result"]["total"] == 0


def test_the_contract_has_every_limit_that_counts(context: ServerContext) -> None:
    contract = call(context, ERA, "contract_get", {}).structured_content["result"]["contract"]
    limits = {name: value for name, value in contract["constraints"].items() if name.endswith("_seconds")}
    assert limits == {
        "call_seconds": 30.0,
        "code_seconds": 120.0,
        "render_seconds": 600.0,
        "run_seconds": 3600.0,
        "background_seconds": 14400.0,
    }


def test_progress_is_told_while_code_runs(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blendwright.engine.heartbeat.INTERVAL_SECONDS", 0.05)
    told: list[tuple[float, float | None, str | None]] = []

    async def script(client: Client) -> Any:
        code = "print('half way', flush=True)\nwhile True: pass"
        with anyio.CancelScope() as scope:

            async def note(progress: float, total: float | None, message: str | None) -> None:
                told.append((progress, total, message))
                if message is not None and message.endswith("half way"):
                    scope.cancel()

            await client.call_tool("python_run", {"code": code}, progress_callback=note)

    talk(context, ERA, script)
    assert told and all(total == 120 and 0 < done < 120 for done, total, _ in told)
    assert any(message is not None and message.endswith("of 120 s, half way") for _, _, message in told), told


def test_the_description_names_the_modules_and_the_limit_that_holds(tmp_path: Path) -> None:
    [tool] = [tool for tool in TOOLS if tool.name == "python_run"]
    text = declaration(tool, Costs()).description or ""
    assert all(word in text for word in ("bmesh", "numpy", "pathlib", "Unavailable: os", "120 s"))
    (tmp_path / "blendwright.toml").write_text("[constraints]\ncode_seconds = 77\n")
    assert "Time limit: 77 s (constraints.code_seconds)." in (
        declaration(tool, policy_costs(tmp_path)).description or ""
    )


def test_many_changes_are_told_in_short() -> None:
    numbered = [{"kind": "objects", "name": f"O{number}", "change": "created"} for number in range(50)]
    belonging = [{**one, "kind": "meshes"} for one in numbered]
    member = [{"kind": "member", "name": "scene:Scene / O1", "change": "created"}]
    other = [
        {"kind": "materials", "name": "O1", "change": "removed"},
        {"kind": "meshes", "name": "Left", "change": "changed"},
        {"kind": "scenes", "name": "Scene", "change": "changed"},
    ]
    assert summary_of([*numbered, *belonging, *member, *other]) == {
        "created": {"objects": "O0 … O49"},
        "removed": {"materials": "O1"},
        "changed": {"meshes": "Left"},
    }
    sparse = [{"kind": "objects", "name": f"O{number * 2}", "change": "created"} for number in range(50)]
    assert summary_of(sparse)["created"]["objects"] == "O0 … O98 (50)"


def test_a_program_file_needs_a_person_and_the_refusal_says_where_to_answer(context: ServerContext) -> None:
    target = context.workspace.parent / "sitecustomize.py"
    answer = call(context, ERA, "python_run", {"code": "pass", "files": {"out": [str(target)]}})
    (finding,) = findings(answer)
    assert finding["rule"] == "approval_missing" and "blendwright approve" in finding["cure"]
    assert f"{target} is a kind of file that programs may execute" in json.dumps(answer.structured_content)
    operation_ = operation("a", "python.run", {"code": "pass", "files": {"out": [str(target)]}})
    del operation_["safety_level"]
    answer = call(context, ERA, "plan_execute", {"plan": plan("program files", operation_)})
    assert [one["rule"] for one in findings(answer)] == ["approval_missing"]
