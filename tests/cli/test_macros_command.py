"""blendwright macros and blendwright schemas: listed, shown, and what is wrong in a workspace told in full. No Blender."""

from __future__ import annotations

import json
from pathlib import Path

from blendwright.macros import macro_registry, package_macros
from blendwright.schemas import published
from support.plans.macro_documents import document, empty
from support.processes.shell import Shell


def test_macros_are_listed_with_the_version_and_fingerprint_of_the_registry(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    listed = shell("macros", "--json", code=0).document
    assert [macro["name"] for macro in listed["macros"]] == list(package_macros())
    assert listed["fingerprint"] == macro_registry(package_macros().values()).fingerprint
    assert "studio.three_point" in shell("macros", code=0).out


def test_one_macro_is_shown_with_everything_it_promises(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    page = shell("macros", "look.color", "--json", code=0).document
    assert page["fingerprint"] == package_macros()["look.color"].fingerprint
    assert page["safety_level"] == "safe_write" and page["source"] == "package"
    assert "all steps or none" in shell("macros", "look.color", code=0).out
    assert "Did you mean 'look.color'" in shell("macros", "look.colour", code=2).err


def test_a_workspace_with_bad_macros_tells_all_that_is_wrong_and_opens_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "macros"
    folder.mkdir(parents=True)
    (folder / "good.json").write_text(json.dumps(document()))
    (folder / "bad.json").write_text(json.dumps(document("test.bad", empty("one", "{{nmae}}"), determinism="seeded")))
    (folder / "worse.json").write_text("{")
    shell = Shell(tmp_path)
    plan = json.dumps({"steps": [{"tool": "scene.snapshot", "args": {}}]}).encode()
    for command in (("macros",), ("call", "scene.snapshot"), ("validate", "-"), ("preview", "-")):
        refused = shell(*command, "--workspace", "workspace", "--json", code=2, stdin=plan).document
        findings = (refused.get("error") or refused["details"])["findings"]
        assert {finding["pointer"] for finding in findings} == {
            "/steps/0/args/name",
            "/inputs",
            "/inputs/properties/name",
            "",
        }
    assert not (tmp_path / "workspace" / "journal.db").exists()
    (folder / "bad.json").unlink()
    (folder / "worse.json").unlink()
    assert (
        shell("macros", "test.pair", "--workspace", "workspace", "--json", code=0).document["source"]
        == "macros/good.json"
    )


def test_schemas_are_listed_with_their_versions_and_printed(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    listed = shell("schemas", "--json", code=0).document["schemas"]
    assert [one["name"] for one in listed] == list(published.names())
    assert {"planner_operations.v1", "steps_payload.v1", "session_contract.v1", "macro.v1", "receipt.v1", "run_report.v1",
            "scene_snapshot.v1"} <= set(published.names())  # fmt: skip
    assert shell("schemas", "macro.v1", code=0).document == published.schema("macro.v1")
    assert shell("schemas", "macro", code=0).document == published.schema("macro.v1")
    assert "Did you mean 'macro.v1'" in shell("schemas", "macros.v1", code=2).err
