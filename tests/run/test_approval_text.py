"""What a person is shown is what an approval is for: the call with its paths as they lead, after the operations that were there."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.approvals.request import ApprovalAnswer
from blendwright.approvals.text import LONGEST_TEXT, line
from blendwright.dialects import operations
from blendwright.journal import approvals as kept
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.tools import catalog
from blendwright.values.outcome import Outcome
from blendwright.values.report import RunReport
from engine import Engine
from plans import box

TRUSTED = box("b", "a", tool_name="python.run", args={"code": "print(1)", "mode": "trusted"})
TOOLS = catalog.tools()
numbers = iter(range(1000))


def named(tool: str, name: str) -> dict[str, Any]:
    return box("a", tool_name=tool, args={"name": name})


def run(engine: Engine, *listed: dict[str, Any], request: str) -> RunReport:
    return engine.run(operations.DIALECT.parse({"request_id": request, "operations": list(listed)}))


def allow_what_waits(engine: Engine) -> None:
    for waiting in engine.journal.approvals.listed():
        kept.answer(engine.place / "workspace", waiting.request.id, ApprovalAnswer.APPROVED, "person")


def rules(found: RunReport | Outcome) -> list[str | None]:
    return [finding.rule for finding in (found.findings if isinstance(found, Outcome) else found.all_findings())]


@pytest.mark.parametrize(
    "other",
    [
        [named("object.create_empty", "Other")],
        [named("object.create_empty", "Seen"), box("a2", tool_name="object.create_empty", args={"name": "More"})],
        [box("a", tool_name="python.run", args={"code": "import bpy\nbpy.data.texts.new('x')"})],
    ],
    ids=["other arguments", "one more", "code"],
)
def test_an_approval_is_for_the_operation_after_what_was_there_before_it(engine: Engine, other: Any) -> None:
    request = f"around {next(numbers)}"
    with engine.under(Policy(policy=Rules(trusted_python="ask"))):
        waits_for = {"depends_on": [item["operation_id"] for item in other]}
        assert rules(run(engine, named("object.create_empty", "Seen"), TRUSTED, request=request)) == [
            "approval_missing"
        ]
        allow_what_waits(engine)
        head = engine.head().number
        assert rules(run(engine, *other, TRUSTED | waits_for, request=request)) == ["approval_missing"]
        assert engine.head().number == head, "nothing ran"


def test_the_operation_before_is_also_its_tool(engine: Engine) -> None:
    engine.do("camera.create", {"name": "Eye"})
    with engine.under(Policy(policy=Rules(trusted_python="ask"))):
        assert rules(run(engine, named("object.inspect", "Eye"), TRUSTED, request="tool")) == ["approval_missing"]
        allow_what_waits(engine)
        assert rules(run(engine, named("camera.set_active", "Eye"), TRUSTED, request="tool")) == ["approval_missing"]


def test_the_same_plan_again_finds_its_approval(engine: Engine) -> None:
    with engine.under(Policy(policy=Rules(trusted_python="ask"))):
        plan = named("object.create_empty", "Found"), TRUSTED, box("c", "b")
        assert rules(run(engine, *plan, request="same")) == ["approval_missing"]
        allow_what_waits(engine)
        assert run(engine, *plan, request="same").ok


def test_an_approval_for_a_file_is_for_where_its_path_leads(engine: Engine) -> None:
    place = engine.place
    (place / "one").mkdir()
    (place / "two").mkdir()
    link = place / "link"
    link.symlink_to(place / "one")
    engine.do("mesh.create_primitive", {"kind": "cube", "name": "Linked"})
    args = {"path": str(link / "x.stl"), "objects": ["Linked"]}
    with engine.under(Policy(policy=Rules(tools={"file.export": Verdict.ASK}))):
        assert rules(engine.call("file.export", args)) == ["approval_missing"]
        (waiting,) = engine.journal.approvals.listed()
        assert str(place / "one" / "x.stl") in waiting.request.what and "link" not in waiting.request.what
        allow_what_waits(engine)
        link.unlink()
        link.symlink_to(place / "two")
        assert rules(engine.call("file.export", args)) == ["approval_missing"]
        link.unlink()
        link.symlink_to(place / "one")
        assert engine.call("file.export", args).ok and (place / "one" / "x.stl").exists()
        for waiting in engine.journal.approvals.listed():
            kept.answer(place / "workspace", waiting.request.id, ApprovalAnswer.DECLINED, "person")


def test_no_list_is_long_enough_to_hide_a_single_value_or_a_path() -> None:
    path = "/" + "d" * 900 + "/x.blend"
    args = {"objects": [f"Object {number}" for number in range(400)], "overwrite": True, "path": path}
    told = line(TOOLS["file.export"], args, ())
    assert '"overwrite":true' in told and path in told and "(400 items)" in told
    assert told.index("overwrite") < told.index("objects") and len(told) < 1200


def test_long_text_is_shortened_and_says_so_and_what_is_redacted_stays_so() -> None:
    told = line(TOOLS["python.run"], {"code": "x" * 5000, "mode": "safe"}, ())
    assert "(5000 characters)" in told and '"mode":"safe"' in told and len(told) < LONGEST_TEXT + 100
    assert "secret" not in line(TOOLS["object.create_empty"], {"name": "secret"}, ("name",))
    assert "\\u202e" in line(TOOLS["object.create_empty"], {"name": "a\u202eb"}, ())


def test_code_is_shown_whole_also_where_it_is_confined() -> None:
    tool = TOOLS["python.run"]
    code = "print(1)\n" * 500
    assert tool.shown_for(tool.args_model.model_validate({"code": code})) == code
