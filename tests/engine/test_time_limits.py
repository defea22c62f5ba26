"""One limit for each call: the contract's. More is refused before anything runs, renders end with what they have, jobs have longer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine.heartbeat import Waiting, last_line
from blendwright.engine.options import RunOptions
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.policy import Constraints, CostsAsked, Policy
from blendwright.policy.session_contract import ContractTerms, Proposal, agree
from blendwright.tools import catalog
from blendwright.tools.render.rendering import sampling_seconds
from blendwright.values.faults import Fault
from blendwright.wire.methods import PRINTED_FILE
from support.engine.engine import Engine

# All samples take a minute of processor time, or four where there are many processors; one sample a second, or four.
SIZE = 512 if (os.cpu_count() or 1) <= 8 else 1024
ENDLESS: dict[str, Any] = {"view": "ISO", "engine": "CYCLES", "samples": 256, "width": SIZE, "height": SIZE}


ENGINE_CALLS = (("mesh.create_primitive", {"kind": "cube", "name": "Crate"}),)


def test_every_call_has_the_limit_of_its_kind_and_a_host_tightens_all_that_it_waits_for() -> None:
    tools = catalog.tools()
    limits = {
        name: ContractTerms().seconds_for(tools[name]) for name in ("object.delete", "python.run", "render.still")
    }
    assert limits == {"object.delete": 30, "python.run": 120, "render.still": 600}
    hasty = agree(Proposal(host=HostProfile(call_seconds=20)), Policy())
    assert isinstance(hasty, ContractTerms)
    assert {hasty.seconds_for(tool) for tool in tools.values()} == {20}
    assert {hasty.in_background().seconds_for(tool) for tool in tools.values()} == {14_400}
    assert hasty.in_background().constraints.run_seconds == 14_400


def test_a_call_that_is_to_have_more_time_is_refused_with_the_setting(engine: Engine) -> None:
    head = engine.head().number
    for tool, args, allowed, setting in (
        ("object.delete", {"name": "Crate"}, 30, "call_seconds"),
        ("python.run", {"code": "print(1)"}, 120, "code_seconds"),
        ("render.preview", {"view": "ISO"}, 600, "render_seconds"),
    ):
        outcome = engine.call(tool, args, timeout=allowed + 1.0)
        assert outcome.fault is Fault.LIMIT_EXCEEDED, tool
        assert f"{allowed} s are allowed" in outcome.message and f"constraints.{setting}" in str(
            outcome.findings[0].cure
        )
    for args, pointer in (({"time_limit_s": 601.0}, "/time_limit_s"), ({"time_limit_s": 600.0}, None)):
        outcome = engine.call("render.still", args)
        assert (outcome.findings[0].pointer if outcome.fault is Fault.LIMIT_EXCEEDED else None) == pointer
    assert engine.head().number == head


def test_in_the_background_the_limit_is_another(engine: Engine) -> None:
    proposal = Proposal(constraints=CostsAsked(code_seconds=1.0, background_seconds=300.0))
    with engine.under(proposal=proposal):
        args = {"code": "print(1)", "timeout_ms": 200_000}
        assert engine.call("python.run", args).fault is Fault.LIMIT_EXCEEDED
        assert engine.call("python.run", args, background=True, timeout=301.0).fault is Fault.LIMIT_EXCEEDED
        assert engine.call("python.run", args, background=True).ok


def test_a_render_that_runs_out_of_time_ends_with_what_it_has_and_says_so(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blendwright.engine.heartbeat.INTERVAL_SECONDS", 0.1)
    # Half of the time is for what comes after the samples; a machine that has much else to do needs more of it.
    for seconds in (8.0, 24.0, 72.0):
        told: list[Waiting] = []
        with engine.under(Policy(constraints=Constraints(render_seconds=seconds))):
            outcome = engine.call("render.preview", ENDLESS, waiting=told.append)
        if outcome.ok:
            break
    assert outcome.ok, outcome.message
    assert outcome.result is not None and outcome.result["partial"] and 0 < outcome.result["samples"] < 256
    assert Path(outcome.artifacts[0]).read_bytes().startswith(b"\x89PNG")
    assert outcome.determinism_class == "nondeterministic", "how far it came depends on the machine"
    assert any("Sample" in each.last for each in told) and {each.limit for each in told} == {seconds}
    whole = engine.do("render.preview", {**ENDLESS, "samples": 1, "width": 16, "height": 16})
    assert whole.result is not None and not whole.result["partial"] and whole.determinism_class == "seeded"


def test_where_the_same_is_demanded_a_part_will_not_do(engine: Engine) -> None:
    with engine.under(Policy(constraints=Constraints(render_seconds=2.0))):
        demanding: dict[str, Any] = {"determinism": catalog.tools()["render.preview"].determinism}
        assert engine.call("render.preview", ENDLESS, **demanding).fault is Fault.TOOL_TIMEOUT


def test_time_is_left_for_what_comes_after_the_samples() -> None:
    class Left:
        def __init__(self, seconds: float | None) -> None:
            self.seconds_left = seconds

    def sampling(left: float | None, pixels: int, wanted: float | None = None) -> float:
        scene: Any = Left(left)
        return sampling_seconds(scene, pixels, wanted)

    assert sampling(600.0, 1_000_000) == 570
    assert sampling(600.0, 1_000_000, 20.0) == 20
    assert sampling(10.0, 8_000_000) == 5
    assert (sampling(None, 100), sampling(None, 100, 7.0)) == (0, 7)


def test_the_last_line_is_read_without_believing_the_file(tmp_path: Path) -> None:
    assert last_line(None) == last_line(tmp_path) == ""
    file = tmp_path / PRINTED_FILE
    file.write_bytes(b"x" * 10_000 + b"\nlast \xff line\n\n")
    assert last_line(tmp_path) == "last \ufffd line"
    file.unlink()
    file.symlink_to("/etc/hostname")
    assert last_line(tmp_path) == ""
    assert str(Waiting("render.still", 12.4, 600.0, "")) == "render.still: 12 of 600 s"
    assert RunOptions().waiting is None
