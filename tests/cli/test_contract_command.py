"""blendwright contract, and what contracts and policies do to run and call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blendwright.util.canonical import digest
from support.processes.shell import Shell


def test_the_contract_is_shown_with_the_origin_of_every_value_and_holds_until_a_tool_changes(shell: Shell) -> None:
    policy = shell.place / ".blendwright" / "blendwright.toml"
    policy.parent.mkdir()
    policy.write_text('[constraints]\ncall_seconds = 20\n[policy.levels]\ndestructive = "deny"\n')
    (shell.place / "host.json").write_text(
        json.dumps({"host": {"name": "trial", "transport": "stdio", "call_seconds": 7}, "features": []})
    )
    document = shell("contract", "--host", "host.json", "--json", code=0).document
    contract = document["contract"]
    assert contract["host"]["name"] == "trial" and contract["constraints"]["call_seconds"] == 7
    assert contract["blender"]["version"][0] in (4, 5) and contract["tool_registry"]["entries"]
    assert document["origins"]["constraints.call_seconds"] == str(policy)
    assert document["origins"]["limits.payload_bytes"] == "default"
    shown = shell("contract", code=0).out
    assert all(name in shown for name in document["origins"] if not name.startswith("blender."))
    assert document["fingerprint"] == contract["fingerprints"]["contract"]
    assert sorted(path.name for path in policy.parent.iterdir()) == [policy.name], "looking starts no workspace"

    (shell.place / "contract.json").write_text(json.dumps(document))
    empty = ["call", "object.create_empty", "--args", '{"name":"A"}', "--contract", "contract.json", "--json"]
    assert shell(*empty, code=0).document["ok"]
    kept = shell("show", "2", "--json", code=0).document
    assert json.dumps(kept).count(document["fingerprint"]) == 1, "the receipt names what it was held to"

    # As it was made when that tool was another one.
    contract["tool_registry"]["entries"]["object.rename"] = "0" * 64
    fingerprint = digest(contract["tool_registry"]["entries"])
    contract["tool_registry"]["fingerprint"] = contract["fingerprints"]["tool_registry"] = fingerprint
    parts = {name: part for name, part in contract.items() if name not in ("session_id", "fingerprints")}
    contract["fingerprints"]["contract"] = digest(parts)
    (shell.place / "contract.json").write_text(json.dumps(document))
    refused = shell(*empty, code=2).document
    assert "the tool object.rename has changed" in refused["message"]
    (finding,) = refused["details"]["findings"]
    assert finding["pointer"] == "/tool_registry/entries/object.rename" and finding["expected"] == "0" * 64
    assert shell(*empty, "--envelope", "core", code=2).document["error"]["code"] == "contract_violation"

    denied = shell("call", "object.delete", "--args", '{"name":"A"}', "--approve", "destructive", "--json", code=2)
    assert denied.document["details"]["findings"][0]["rule"] == "level_denied"


@pytest.mark.parametrize(
    ("proposal", "told"),
    [
        ({"features": ["teleport"]}, "'teleport'"),
        ({"contract_version": "9.0"}, "9.0"),
        ({"hots": {}}, "/hots"),
        ({"host": {"payload_bytes": 1}}, "/host/payload_bytes"),
    ],
)
def test_a_proposal_that_cannot_be_is_refused_without_blender(shell: Shell, proposal: object, told: str) -> None:
    (shell.place / "host.json").write_text(json.dumps(proposal))
    refused = shell("contract", "--host", "host.json", "--blender", "/no/such/blender", "--json", code=2).document
    assert told in refused["error"]["message"] and refused["error"]["cure"]


def test_a_misspelt_policy_is_refused_with_its_line(shell: Shell) -> None:
    policy = shell.place / ".blendwright" / "blendwright.toml"
    policy.parent.mkdir()
    policy.write_text('[policy.levels]\ndestrutive = "deny"\n')
    for command in (["contract"], ["call", "object.create_empty", "--args", '{"name":"A"}']):
        refused = shell(*command, "--json", code=2).document
        told = refused["error"] if command == ["contract"] else refused
        assert f"{policy}:2:" in told["message"] and "Did you mean 'destructive'?" in json.dumps(told)
    assert not (Path(policy.parent) / "journal.db").exists()
