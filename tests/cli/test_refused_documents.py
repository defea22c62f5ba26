"""What is no plan gets the failure of the dialect that was asked for, or of operations, in the codes of the contracts. Contracts
from before are held to what they say of themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blendwright.dialects.dialect import proven
from support.plans.documents import box
from support.processes.shell import Shell

NO_PLANS = {
    "not JSON": b"{",
    "a key twice": b'{"request_id": "a", "request_id": "b", "operations": []}',
    "no dialect": b'{"a": 1}',
    "no object": b"[]",
}
SCHEMAS = {"operations": "failure_payload.v1", "geonodes": "geonodes_result.v1"}


def code_of(result: dict[str, Any]) -> str:
    return result["error_code"] if "error_code" in result else result["error"]["code"]


@pytest.mark.proves("OPS-FAIL-01")
@pytest.mark.parametrize("command", ["run", "preview"])
@pytest.mark.parametrize("name", NO_PLANS)
def test_what_is_no_plan_gets_the_failure_of_its_dialect_on_the_command_line(
    shell: Shell, command: str, name: str
) -> None:
    for dialect in (None, "operations", "geonodes"):
        asked = [] if dialect is None else ["--dialect", dialect]
        answer = shell(command, "-", *asked, "--json", code=2, stdin=NO_PLANS[name]).document
        assert (answer["dialect"], answer["ok"], answer["error_code"]) == (
            dialect or "operations",
            False,
            "invalid_input",
        )
        assert code_of(answer["result"]) == "SCHEMA_INVALID" and answer["details"]["findings"][0]["cure"]
        proven(SCHEMAS[answer["dialect"]], answer["result"])
    steps = shell(command, "-", "--dialect", "steps", "--json", code=2, stdin=NO_PLANS[name]).document
    assert (steps["dialect"], steps["result"], steps["error_code"]) == ("steps", None, "invalid_input")
    assert not (shell.place / ".blendwright").exists(), "nothing is made for it"


def broken_contracts(document: dict[str, Any]) -> dict[str, tuple[dict[str, Any], str, str]]:
    """Contracts that do not hold any more: the document, the rule that refuses it, and the place that it names."""

    def with_(**parts: Any) -> dict[str, Any]:
        return document | parts

    registry = document["tool_registry"]
    entries = registry["entries"] | {"object.rename": "0" * 64}
    return {
        "version": (with_(contract_version="0.9"), "contract_version", "/contract_version"),
        "old shape": ({"contract_version": "0.9", "fingerprints": {}}, "contract_version", "/contract_version"),
        "no shape": (with_(limits={"operations_per_plan": "many"}), "contract_edited", "/limits/operations_per_plan"),
        "limit": (
            with_(limits=document["limits"] | {"operations_per_plan": 7}),
            "contract_edited",
            "/fingerprints/contract",
        ),
        "fingerprint": (
            with_(fingerprints=document["fingerprints"] | {"contract": "0" * 64}),
            "contract_edited",
            "/fingerprints/contract",
        ),
        "registry": (
            with_(tool_registry=registry | {"entries": entries}),
            "contract_edited",
            "/tool_registry/fingerprint",
        ),
    }


@pytest.mark.proves("CORE-CONTRACT-04")
def test_an_outdated_or_edited_contract_is_a_violation_with_what_was_expected(shell: Shell) -> None:
    contract = shell("contract", "--json", code=0).document["contract"]
    (shell.place / "plan.json").write_text(json.dumps({"request_id": "held", "operations": [box("a")]}))
    (shell.place / "contract.json").write_text(json.dumps(contract))
    assert shell("run", "plan.json", "--contract", "contract.json", "--json", code=0).document["ok"]
    for name, (document, rule, place) in broken_contracts(contract).items():
        (shell.place / "contract.json").write_text(json.dumps(document))
        call = ["call", "object.create_empty", "--args", '{"name": "E"}', "--contract", "contract.json", "--json"]
        core = shell(*call, "--envelope", "core", code=2).document["error"]
        assert core["code"] == "contract_violation", name
        found = next(finding for finding in core["details"]["findings"] if finding["pointer"] == place)
        assert found["rule"] == rule and found["cure"]
        if name != "no shape":
            assert found["expected"] != found["actual"] and found["expected"] and found["actual"]
        assert shell(*call, code=2).document["error_code"] == "policy_refused"
        answer = shell("run", "plan.json", "--contract", "contract.json", "--json", code=2).document
        assert answer["error_code"] == "policy_refused" and answer["report"]["findings"]
        assert answer["result"]["error_code"] == "POLICY_BLOCKED" and answer["result"]["recoverable"] is False
