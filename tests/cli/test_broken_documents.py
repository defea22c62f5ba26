"""Every input takes the same broken documents, and refuses each with the same findings."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from blendwright.cli.run import call
from blendwright.cli.validate import validate
from blendwright.dialects.registry import read_plan
from blendwright.macros.loading import read_macros
from blendwright.planner.answers import read_proposal as read_planner_answer
from blendwright.schemas.json_reader import read_json
from blendwright.server.tools.plans import TOOLS
from blendwright.server.transport.jsonrpc import PARSE_ERROR, message_error
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.workspace.contracts import read_contract, read_proposal

PLAN_VALIDATE = next(tool for tool in TOOLS if tool.name == "plan_validate")

Findings = Sequence[Finding]

BROKEN = {
    "no JSON": b"{name: Box}",
    "nothing": b"",
    "a second document": b"{} {}",
    "NaN": b'{"a": NaN}',
    "infinity": b'{"a": [-Infinity]}',
    "a number beyond all doubles": b'{"a": 1e999}',
    "no UTF-8": b'{"a": "\xff"}',
    "a lone surrogate": b'{"a": "\\ud800"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a key twice": b'{"a": {"b": 1, "b": 2}}',
    "two keys twice": b'{"a": 1, "a": 2, "b": [{"c": 1, "c": 1}]}',
    "a key twice in what another one replaced": b'{"a": {"b": 1, "b": 2}, "a": 1}',
    "an integer that is rounded": b'{"a": [1, 9007199254740993]}',
    "an integer of 30 digits": b'{"a": 123456789012345678901234567890}',
    "too deep": b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}",
    "deeper than any parser goes": b'{"a":' * 5000,
}
# What a caller from Python, or an SDK that has parsed the message, can still hand over.
AS_VALUES = ("an integer that is rounded", "an integer of 30 digits", "too deep")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "document.json"


def refused(read: Callable[[], object]) -> Findings:
    with pytest.raises(Refusal) as caught:
        read()
    return caught.value.findings


def plan(text: bytes, file: Path) -> Findings:
    return refused(lambda: read_plan(text))


def arguments_of_a_call(text: bytes, file: Path) -> Findings:
    # As the command line decodes its arguments.
    return refused(lambda: call("object.create_empty", text.decode(errors="surrogateescape"), json=True))


def contract_file(text: bytes, file: Path) -> Findings:
    file.write_bytes(text)
    return refused(lambda: read_contract(file))


def proposal_file(text: bytes, file: Path) -> Findings:
    file.write_bytes(text)
    return refused(lambda: read_proposal(file))


def macro_file(text: bytes, file: Path) -> Findings:
    return read_macros({file.name: text}, catalog.tools(), {})[1]


def answer_of_a_model(text: bytes, file: Path) -> Findings:
    answer = read_planner_answer(text.decode(errors="surrogateescape"), "operations", "request")
    assert isinstance(answer, tuple)
    return answer


def plan_as_text_over_mcp(text: bytes, file: Path) -> Findings:
    arguments = PLAN_VALIDATE.parse({"plan": text.decode(errors="surrogateescape")})
    assert isinstance(arguments, tuple) and all(finding.pointer.startswith("/plan") for finding in arguments)
    return [relative(finding, "/plan") for finding in arguments]


def relative(finding: Finding, base: str) -> Finding:
    return Finding(finding.fault, finding.message, finding.pointer.removeprefix(base), finding.cure)


INPUTS = [
    plan,
    arguments_of_a_call,
    contract_file,
    proposal_file,
    macro_file,
    answer_of_a_model,
    plan_as_text_over_mcp,
]


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("findings_of", INPUTS, ids=lambda one: one.__name__)
def test_every_input_says_the_same_of_a_broken_document(
    findings_of: Callable[[bytes, Path], Findings], name: str, file: Path
) -> None:
    expected = read_json(BROKEN[name])[1]
    findings = findings_of(BROKEN[name], file)
    assert expected and _without_messages(findings) == _without_messages(expected)
    if name != "no UTF-8":  # decoded by the shell or the transport, the bytes are gone
        for finding, same in zip(findings, expected, strict=True):
            # A file is named in front.
            assert finding.message.endswith(same.message)


@pytest.mark.parametrize("name", BROKEN)
def test_a_result_is_read_by_the_same_rules(name: str, file: Path, capfdbinary: Any) -> None:
    file.write_bytes(BROKEN[name])
    with contextlib.suppress(SystemExit):
        assert validate(str(file), result=True, json=True) == 2
    printed = json.loads(capfdbinary.readouterr().out)["findings"]
    expected = [finding.to_json() for finding in read_json(BROKEN[name])[1]]
    # A document that can be read is held against its schema as well.
    assert printed[: len(expected)] == expected


@pytest.mark.parametrize("name", AS_VALUES)
def test_what_arrives_parsed_is_held_to_the_same_rules(name: str) -> None:
    arguments = PLAN_VALIDATE.parse({"plan": json.loads(BROKEN[name])})
    assert isinstance(arguments, tuple)
    assert tuple(relative(finding, "/plan") for finding in arguments) == read_json(BROKEN[name])[1]


def test_a_message_that_repeats_a_key_is_answered_by_its_id() -> None:
    text = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"arguments": {"a": 1, "a": 2}}}'
    answer = message_error(text)
    assert answer is not None and (answer["id"], answer["error"]["code"]) == (7, PARSE_ERROR)
    assert "'a' is given more than once at /params/arguments/a" in answer["error"]["message"]


def _without_messages(findings: Findings) -> list[tuple[str, str, str | None]]:
    return [(finding.fault.value, finding.pointer, finding.cure) for finding in findings]
