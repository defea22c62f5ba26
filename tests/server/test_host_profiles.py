"""What a host can take: said by itself, in a file, by flags or by a call; it only tightens, and the contract names who said it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.extension import ClientExtension
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters
from mcp_types import ClientCapabilities

from blendwright.engine.options import RunOptions
from blendwright.policy.host_profile import HostLimits, HostStatement, Source
from blendwright.server.context import ServerContext
from blendwright.server.transport.client_info import EXTENSION
from blendwright.values.report import RunReport
from blendwright.workspace.open_scene import OpenScene
from support.hosts.mcp import FEWER_ERAS, Era, connected, cube, operation, plan
from support.processes.shell import PROGRAM, Shell

Document = dict[str, Any]
PICTURE = {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": 2048, "height": 2048}


class HostProfileExtension(ClientExtension):
    identifier = EXTENSION

    def __init__(self, said: Document) -> None:
        self._said = said

    def settings(self) -> Document:
        return self._said


def stated(source: Source, **limits: Any) -> HostStatement:
    return HostStatement(source, HostLimits.model_validate_json(json.dumps(limits)))


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the client declare something of its own: the SDK's has no place for it."""
    build = ClientSession._build_capabilities  # pyright: ignore[reportPrivateUsage]

    def declare(**said: Any) -> None:
        def capabilities(self: ClientSession, version: str) -> ClientCapabilities:
            return build(self, version).model_copy(update={"experimental": {"blendwright": said}})

        monkeypatch.setattr(ClientSession, "_build_capabilities", capabilities)

    return declare


def ask(
    context: ServerContext, era: Era, tool: str, args: Document, statements: Sequence[HostStatement] = (), **more: Any
) -> Document:
    async def main() -> Any:
        with anyio.fail_after(120):
            async with connected(replace(context, statements=tuple(statements)), era, **more) as client:
                return (await client.call_tool(tool, args)).structured_content

    return anyio.run(main)


def sources(context: ServerContext, era: Era, *statements: HostStatement, **args: Any) -> dict[str, tuple[Any, str]]:
    result = ask(context, era, "contract_get", args, statements)["result"]
    return {name: (entry["value"], entry["source"]) for name, entry in result["sources"].items()}


SAID = {
    "payload_bytes": 500_000,
    "call_seconds": 7.5,
    "streaming": False,
    "cancellation": False,
    "envelope": "tool_result",
    "determinism": "seeded",
    "verification": "all",
}
IN_CONTRACT = {
    "limits.payload_bytes": 500_000,
    "constraints.call_seconds": 7.5,
    "host.streaming": False,
    "host.cancellation": False,
    "host.envelope": "tool_result",
    "constraints.determinism": "seeded",
    "host.verification": "all",
}


@pytest.mark.proves("EXEC-PROFILE-02")
def test_a_host_says_what_it_can_take_when_it_introduces_itself(context: ServerContext, era: Era, says: Any) -> None:
    says(**SAID)
    told = sources(context, era)
    assert {name: told[name] for name in IN_CONTRACT} == {name: (at, "initialize") for name, at in IN_CONTRACT.items()}
    assert told["constraints.run_seconds"] == (3600.0, "default")
    assert told["host.name"][1] == "initialize"


def test_it_may_say_so_as_an_extension_of_the_protocol(context: ServerContext, era: Era) -> None:
    answer = ask(context, era, "contract_get", {}, extensions=[HostProfileExtension({"call_seconds": 7.5})])
    assert answer["result"]["sources"]["constraints.call_seconds"] == {"value": 7.5, "source": "initialize"}


def test_whoever_says_the_least_is_the_one_who_counts(context: ServerContext, era: Era, says: Any) -> None:
    says(call_seconds=50, payload_bytes=20_000, streaming=True, determinism="seeded", envelope="tool_result")
    file = stated("host profile", call_seconds=20, payload_bytes=90_000, streaming=False, determinism="deterministic")
    flags = stated("flag", call_seconds=10, envelope="core", verification="all")
    told = sources(context, era, file, flags)
    assert told["constraints.call_seconds"] == (10, "flag")
    assert told["limits.payload_bytes"] == (20_000, "initialize")
    assert told["host.streaming"] == (False, "host profile")
    assert told["constraints.determinism"] == ("deterministic", "host profile")
    assert told["host.verification"] == ("all", "flag")
    assert told["host.envelope"] == ("tool_result", "initialize"), "the host knows what it reads"


def test_nobody_can_have_more_than_the_policy_has(context: ServerContext, era: Era, says: Any) -> None:
    says(call_seconds=3000, payload_bytes=2**30)
    told = sources(context, era, stated("flag", call_seconds=3600))
    assert told["constraints.call_seconds"] == (30.0, "default")
    assert told["limits.payload_bytes"] == (64 * 2**20, "default")


def test_a_call_can_demand_more_for_itself(context: ServerContext, era: Era) -> None:
    told = sources(context, era, stated("flag", determinism="seeded"), determinism="deterministic", verify=True)
    assert told["constraints.determinism"] == ("deterministic", "call")
    assert told["host.verification"] == ("all", "call")
    told = sources(context, era, stated("flag", determinism="deterministic"), determinism="seeded")
    assert told["constraints.determinism"] == ("deterministic", "flag"), "and never less"


def test_values_of_the_policy_are_told_as_such(context: ServerContext, era: Era) -> None:
    file = context.workspace / "blendwright.toml"
    file.write_text("[constraints]\nrun_seconds = 3600.0\n")
    try:
        assert sources(context, era)["constraints.run_seconds"] == (3600.0, "policy")
    finally:
        file.unlink()


@pytest.mark.parametrize(
    "said", [{"call_secs": 5}, {"payload_bytes": 5}, {"envelope": "soap"}], ids=lambda one: next(iter(one))
)
def test_what_nobody_knows_is_refused_by_name(context: ServerContext, era: Era, says: Any, said: Document) -> None:
    says(**said)
    refused = ask(context, era, "contract_get", {})
    (finding,) = refused["details"]["findings"]
    assert (refused["ok"], refused["error_code"]) == (False, "invalid_input")
    assert finding["pointer"] == f"/capabilities/experimental/blendwright/{next(iter(said))}"
    assert "call_seconds" in finding["cure"]


# ---------------------------------------------------------------------- what they do


def test_the_form_of_results_is_the_hosts(context: ServerContext, era: Era, says: Any) -> None:
    says(envelope="core")
    answer = ask(context, era, "plan_execute", {"plan": {}})
    assert answer["error"]["code"] == "invalid_arguments"


def test_a_host_without_streaming_is_told_no_progress(context: ServerContext, era: Era) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def main() -> None:
        silent = replace(context, statements=(stated("flag", streaming=False),))
        async with connected(silent, era) as client:
            document = plan(f"silent{era}", cube("a", f"Silent{era}"))
            await client.call_tool("plan_execute", {"plan": document}, progress_callback=hear)

    anyio.run(main)
    assert heard == []


@pytest.mark.parametrize("era", FEWER_ERAS)
def test_a_plan_is_answered_before_the_host_stops_waiting(context: ServerContext, era: Era) -> None:
    slow = operation("slow", "render.preview", PICTURE, "a", level="read_only")
    document = plan(f"waits{era}", cube("a", f"Waits{era}"), slow)
    answer = ask(context, era, "plan_execute", {"plan": document}, [stated("host profile", call_seconds=3)])
    assert (answer["error_code"], answer["details"]["partial_work"]["kept"]) == ("timeout", ["a"])


def test_what_is_larger_than_the_host_takes_is_left_out_and_said(context: ServerContext, era: Era) -> None:
    small = [stated("flag", payload_bytes=8000)]
    answer = ask(context, era, "contract_get", {"registries": True}, small)
    left_out = answer["result"]["left_out"]
    assert answer["ok"] and left_out["bytes"] > left_out["payload_bytes"] == 8000
    assert 2 * len(json.dumps(answer)) < 8000
    sent = {"plan": plan(f"large{era}", operation("a", "text.create", {"name": "T", "body": "x" * 9000}))}
    assert ask(context, era, "plan_execute", sent, small)["error_code"] == "policy_refused"


def test_a_demand_for_determinism_is_kept_from_either_side(context: ServerContext, era: Era) -> None:
    ground = {"kind": "grid", "name": f"Ground{era}", "size": 10, "cells": 4}
    strewn = {"source": f"Stone{era}", "target": f"Ground{era}", "count": 3, "seed": 1, "prefix": f"Strewn{era}"}
    listed = [
        operation("ground", "mesh.create_primitive", ground),
        cube("stone", f"Stone{era}", "ground"),
        operation("strew", "place.scatter", strewn, "stone"),
    ]
    document = plan(f"demand{era}", *listed)
    strict = [stated("host profile", determinism="deterministic")]
    for answer in (
        ask(context, era, "plan_execute", {"plan": document}, strict),
        ask(context, era, "plan_execute", {"plan": document, "determinism": "deterministic"}),
    ):
        assert (answer["ok"], answer["error_code"]) == (False, "nondeterministic_refused")
    assert ask(context, era, "plan_execute", {"plan": document, "determinism": "seeded"})["ok"]


def test_reading_back_can_be_asked_for_by_the_call(
    context: ServerContext, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    run = OpenScene.run

    def spy(self: OpenScene, document: Any, options: RunOptions) -> RunReport:
        asked.append(options.verify)
        return run(self, document, options)

    monkeypatch.setattr(OpenScene, "run", spy)
    for verify in (False, True):
        document = plan(f"verify{verify}{era}", operation("a", "scene.find", {"name": "*"}, level="read_only"))
        assert ask(context, era, "plan_execute", {"plan": document, "verify": verify})["ok"]
    assert asked == [False, True]


# ---------------------------------------------------------------------- the program


def test_a_profile_with_an_unknown_field_is_refused_with_file_and_place(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (shell.place / "host.json").write_text('{"call_seconds": 5, "streming": false}')
    refused = shell.program("serve", "--host-profile", "host.json", code=2)
    assert "host.json" in refused.err and "/streming" in refused.err
    missing = shell.program("serve", "--host-profile", "nowhere.json", code=2)
    assert "nowhere.json" in missing.err


def test_a_server_is_started_with_a_profile_and_flags(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text(json.dumps({"call_seconds": 12, "streaming": False, "determinism": "seeded"}))
    arguments = ["serve", "--host-profile", "host.json", "--call-seconds", "9", "--verification", "all"]
    program = StdioServerParameters(command=str(PROGRAM), args=arguments, cwd=tmp_path)

    async def main() -> Any:
        with anyio.fail_after(120):
            async with Client(program, mode="legacy") as client:
                return (await client.call_tool("contract_get", {})).structured_content

    told = anyio.run(main)["result"]["sources"]
    assert told["constraints.call_seconds"] == {"value": 9.0, "source": "flag"}
    assert told["host.streaming"] == {"value": False, "source": "host profile"}
    assert told["constraints.determinism"] == {"value": "seeded", "source": "host profile"}
    assert told["host.verification"] == {"value": "all", "source": "flag"}
    assert told["limits.payload_bytes"]["source"] == "default"
