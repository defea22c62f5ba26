"""What a person is shown is what an approval is for: the call with its paths as they lead, after the operations that were there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blendwright.approvals.text import MAX_NUMBERS_CHARACTERS, heading, question
from blendwright.dialects import operations
from blendwright.journal import approvals as kept
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.tools import catalog
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.approval import ApprovalAnswer
from blendwright.values.outcome import Outcome
from blendwright.values.report import RunReport
from support.engine.engine import Engine
from support.plans.documents import box

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


def test_paths_come_first_each_on_a_line_and_nothing_that_has_text_is_shortened() -> None:
    path = "/" + "d" * 900 + "/x.blend"
    names = [f"Object {number}" for number in range(400)]
    lines = question(TOOLS["file.export"], {"objects": names, "overwrite": True, "path": path}, ()).split("\n")
    assert lines[:2] == ["file.export", f'writes "{path}"'] and len(lines) == 3
    assert lines[2].startswith('with {"overwrite":true,"objects":["Object 0",') and lines[2].endswith('"Object 399"]}')


def test_every_declared_path_is_shown_whole_and_outputs_come_first() -> None:
    files = {"in": ["/in/" + "m" * 300 + ".glb", "/in/b.png"], "out": ["/home/x/thesis.blend", "/out/b.csv"]}
    args = {"code": "print(1)", "files": files, "overwrite": True}
    lines = question(TOOLS["python.run"], args, (), shown="print(1)").split("\n")
    writes = [f'writes "{path}"' for path in files["out"]]
    assert lines[:5] == ["python.run", *writes, *(f'reads "{path}"' for path in files["in"])]
    assert lines[5] == 'with {"code":"…" (shown in full, 8 characters),"overwrite":true}'
    assert heading("\n".join(lines)).split("\n") == lines[:5]


def test_what_nobody_sees_in_a_path_is_written_out_and_makes_no_line_of_its_own() -> None:
    path = '/a\u202e\u200b\x1b[2K\n\u2028writes "/harmless.png"\u00a0.py'
    told = question(TOOLS["python.run"], {"code": "x", "files": {"out": [path]}}, ())
    assert told.split("\n")[1] == (r'writes "/a\u202e\u200b\u001b[2K\n\u2028writes \"/harmless.png\"\xa0.py"')


def test_bulk_without_text_is_shortened_with_its_hash_and_what_is_redacted_stays_so() -> None:
    vertices = [[float(number), 0.0, 0.0] for number in range(5000)]
    told = [
        question(TOOLS["mesh.create"], {"name": "M", "vertices": listed}, ())
        for listed in (vertices, [*vertices[:-1], [9.0, 9.0, 9.0]])
    ]
    assert "(5000 parts, SHA-256 " in told[0] and len(told[0]) < MAX_NUMBERS_CHARACTERS + 300 and told[0] != told[1]
    assert "secret" not in question(TOOLS["object.create_empty"], {"name": "secret"}, ("name",))
    hidden = question(TOOLS["python.run"], {"code": "x", "files": {"in": ["/secret"], "out": []}}, ("files",))
    assert "secret" not in hidden and '"files":"…"' in hidden
    assert "\\u202e" in question(TOOLS["object.create_empty"], {"name": "a\u202eb"}, ())


SIGNS = st.sampled_from('ab/.,:" \\u{}[]\n\t\u202e\u200b\u2028\x1b\x7f\xa0\u0430é\U000e0100\u3164')
PATHS = st.lists(st.text(SIGNS, min_size=1, max_size=12) | st.just("/long/" + "x" * 400), max_size=4)
DECLARED = st.fixed_dictionaries({}, optional={"in": PATHS, "out": PATHS})


@given(one=DECLARED, other=DECLARED, code=st.sampled_from(["print(1)", "a\u202e", r"a\u202e"]))
def test_requests_for_different_files_are_never_displayed_alike(one: Any, other: Any, code: str) -> None:
    def paths(files: Any) -> tuple[list[str], list[str]]:
        return list(files.get("in", [])), list(files.get("out", []))

    told = [displayed({"code": code, "files": files, "overwrite": True}) for files in (one, other)]
    assert (told[0] == told[1]) == (paths(one) == paths(other))


@given(*[st.sampled_from(["a\u202e" + r"\u202e", r"\u202e" + "a\u202e", "a" + r"\u202e" * 2, "print(1)"])] * 2)
def test_different_code_is_never_displayed_alike(one: str, other: str) -> None:
    told = [displayed({"code": code, "files": None}) for code in (one, other)]
    assert (told[0] == told[1]) == (one == other)


def displayed(args: dict[str, Any]) -> str:
    """Everything of a question that depends on the arguments, as every surface gets it."""
    shown = escape_invisible(args["code"])
    return question(TOOLS["python.run"], args, (), shown) + "\0" + shown


def test_code_is_shown_whole_also_where_it_is_confined() -> None:
    tool = TOOLS["python.run"]
    code = "print(1)\n" * 500
    assert tool.shown_for(tool.args_model.model_validate({"code": code})) == code
