"""What a dialect is: one outer format of plans and of their results, as one value. `registry` lists them.

A dialect says how its documents are recognised, read and rendered, and which of a plan's policies it has. It never runs anything.
What it reads and renders is held to the published schemas, with each field's own description as the cure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

import rfc8785

from blendwright.schemas.check import Checker
from blendwright.schemas.json_reader import non_interoperable_values
from blendwright.schemas.published import schema
from blendwright.values.errors import BlendwrightError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.values.plan import (
    Boundary,
    OnFailure,
    OnNondeterministic,
    OnUnknownTool,
    Operation,
    Plan,
    ProgramSource,
    TieBreak,
)

if TYPE_CHECKING:
    from blendwright.values.report import RunReport

Tone = Literal["good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a dialect reads from a document. With findings, the operations are there as far as they can be read.

    `request_id` is the one that the document gives; None where the dialect has no such field. `remarks` is what the dialect's
    own result needs besides the report; `program` is what the operations come from, where the document is one.
    """

    operations: tuple[Operation, ...]
    findings: tuple[Finding, ...] = ()
    request_id: str | None = None
    remarks: Mapping[str, Any] | None = None
    program: ProgramSource | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a document can refer to that is not in it: the names of tools and macros, and library files by the paths that it gives.
    `read_library` raises Refusal. `go_on` is asked now and then whether a program that has been evaluated for so many seconds goes on."""

    tools: Collection[str]
    read_library: Callable[[str], str] | None = None
    go_on: Callable[[float], bool] = lambda seconds: True


@dataclass(frozen=True, slots=True)
class ResultContract:
    """What anyone's result of such a plan must be: the version of the contract, and everything that speaks against a document."""

    version: str
    findings: Callable[[Any], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One dialect. `parse_document` and `render` are its two directions; the other fields are what differs in between."""

    name: str
    form: str
    """What a document looks like, in a few words, for whoever gave something else."""
    recognises: Callable[[Set[str]], bool]
    """Whether an object with these keys is meant as one."""
    parse_document: Callable[[Any], ParsedDocument]
    """Reads a document that is interoperable JSON; never raises."""
    render: Callable[[RunReport], Any]
    """The report as the dialect's result contract has it; None where the contract has no result for what happened."""
    tie_break: TieBreak
    on_failure: OnFailure
    parse_within: Callable[[Any, Surroundings | None], ParsedDocument] | None = None
    """The same as `parse_document`, where what a document means depends on what is around it."""
    boundary: Boundary = "operation"
    """What a failure takes back where nobody says."""
    on_unknown_tool: OnUnknownTool = "refuse"
    on_nondeterministic: OnNondeterministic = "prove"
    result_contract: ResultContract | None = None
    """Where results that others wrote can be validated."""
    resume: Callable[[dict[str, Any], str, Sequence[Any]], dict[str, Any]] | None = None
    """A document under another request id, with the items of operations that are committed already. Where there is none, a
    repeated plan has nothing by which its operations are known again, and a model's plan is done as a whole or not at all."""
    conclusion: Callable[[Any], Iterable[tuple[Tone, str, str]]] | None = None
    """What a person is shown of a result besides its operations: lines, each with a tone, a heading and a text."""

    def parse(
        self,
        document: Any,
        *,
        request_id: str | None = None,
        boundary: Boundary | None = None,
        is_json: bool = False,
        surroundings: Surroundings | None = None,
    ) -> Plan:
        """The plan, with findings where the document breaks its contract. `is_json`: the JSON reader has passed it already.

        A request id that is given must be the document's own, where it has one; where it has none and none is given, the hash
        of the document serves, or of the program with all that decides what it yields.
        """
        if is_json:
            findings = ()
        else:
            findings = non_interoperable_values(document)
        if findings:
            parsed = ParsedDocument((), findings)
        elif self.parse_within is not None:
            parsed = self.parse_within(document, surroundings)
        else:
            parsed = self.parse_document(document)
        findings, own = parsed.findings, parsed.request_id
        if own is None and not request_id and not findings:
            source = parsed.program
            if source is None:
                own = hashlib.sha256(rfc8785.dumps(document)).hexdigest()
            else:
                own = source.hash
        elif own is not None and request_id and request_id != own:
            message = f"the plan's request_id is '{own[:100]}', and '{request_id[:100]}' was given from outside"
            if own:
                pointer = "/request_id"
            else:
                pointer = ""
            findings += (Finding(Fault.SCHEMA_INVALID, message, pointer, "Give one of the two only."),)
        return Plan(
            self.name,
            (request_id or "") if own is None else own,
            parsed.operations,
            self.tie_break,
            self.on_failure,
            boundary or self.boundary,
            self.on_unknown_tool,
            findings,
            on_nondeterministic=self.on_nondeterministic,
            remarks=parsed.remarks,
            program=parsed.program,
        )


@cache
def checker(name: str) -> Checker:
    document_schema = schema(name)
    words = dict(_descriptions(document_schema))

    def advice(pointer: str) -> str:
        for part in reversed(pointer.split("/")):
            if part in words:
                return f"{part}: {words[part]}"
        return f"See the published schema: blendwright schemas {name}"

    return Checker(document_schema, Fault.SCHEMA_INVALID, advice)


def proven(name: str, document: Any) -> None:
    """What leaves a dialect has passed its contract's own schema; that it does not is a defect of ours."""
    refuse_broken(list(checker(name).findings(document)))


def refuse_broken(findings: list[Finding]) -> None:
    if findings:
        first = findings[0]
        message = f"the result breaks its own contract at '{first.pointer}': {first.message}"
        raise BlendwrightError(message, cure="This is a defect. Report it, with the plan.")


def _descriptions(part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, dict):
        members = cast("dict[str, Any]", part)
        for name, inner in members.get("properties", {}).items():
            if isinstance(inner, dict) and "description" in inner:
                yield name, str(cast("dict[str, Any]", inner)["description"])
        for inner in members.values():
            yield from _descriptions(inner)
    elif isinstance(part, list):
        for inner in cast("list[Any]", part):
            yield from _descriptions(inner)
