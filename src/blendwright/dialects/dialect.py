"""Description of a dialect: one external format of plans and of their results, as one value.

`registry` lists the dialects.

A dialect recognises, reads and renders its documents, and sets some of a plan's policies. It never runs anything. The
published schemas check its input and output; the fix in a finding is the description of the field.
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
    """Content that a dialect reads from a document. With findings, the operations are there as far as they can be read.

    `request_id` is the document's own id; None if the dialect has no such field. `remarks` holds data that the dialect
    needs for its result in addition to the report. `program` is the source of the operations if the document is a
    program.
    """

    operations: tuple[Operation, ...]
    findings: tuple[Finding, ...] = ()
    request_id: str | None = None
    remarks: Mapping[str, Any] | None = None
    program: ProgramSource | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Context that a document may refer to: the names of tools and macros, and library files by path.

    `read_library` raises Refusal. Evaluation calls `go_on` with its running time in seconds, and stops if the answer is
    False.
    """

    tools: Collection[str]
    read_library: Callable[[str], str] | None = None
    go_on: Callable[[float], bool] = lambda seconds: True


@dataclass(frozen=True, slots=True)
class ResultContract:
    """The contract of a dialect's results: its version, and a check that returns the findings of any result document."""

    version: str
    findings: Callable[[Any], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A dialect. `parse_document` and `render` are its two directions; the other fields hold its policies."""

    name: str
    form: str
    """The form of a document in a few words, for messages about unrecognised documents."""
    recognises: Callable[[Set[str]], bool]
    """Return True if an object with these keys is a document of this dialect."""
    parse_document: Callable[[Any], ParsedDocument]
    """Read a document of interoperable JSON; never raise."""
    render: Callable[[RunReport], Any]
    """Return the report in the form of the dialect's result contract; None if the contract has no form for it."""
    tie_break: TieBreak
    on_failure: OnFailure
    parse_within: Callable[[Any, Surroundings | None], ParsedDocument] | None = None
    """Used instead of `parse_document` by a dialect whose documents depend on their surroundings."""
    boundary: Boundary = "operation"
    """The default extent of the rollback after a failure."""
    on_unknown_tool: OnUnknownTool = "refuse"
    on_nondeterministic: OnNondeterministic = "prove"
    result_contract: ResultContract | None = None
    """The contract for validating results from other producers, if the dialect has one."""
    resume: Callable[[dict[str, Any], str, Sequence[Any]], dict[str, Any]] | None = None
    """Return a document under another request id, with the items of already committed operations.

    Without this function, a repeated plan cannot identify its operations, so a model's plan runs completely or not at all.
    """
    conclusion: Callable[[Any], Iterable[tuple[Tone, str, str]]] | None = None
    """Return the lines that a person sees after the operations of a result, each as tone, heading and text."""

    def parse(
        self,
        document: Any,
        *,
        request_id: str | None = None,
        boundary: Boundary | None = None,
        is_json: bool = False,
        surroundings: Surroundings | None = None,
    ) -> Plan:
        """Return the plan, with findings if the document breaks its contract.

        `is_json` means that the JSON reader has already checked the document. A given request id must equal the document's own.
        If neither exists, the plan gets the hash of the document, or of the program with everything that determines its operations.
        """
        findings: tuple[Finding, ...] = ()
        if not is_json:
            findings = non_interoperable_values(document)
        if findings:
            parsed = ParsedDocument((), findings)
        elif self.parse_within is not None:
            parsed = self.parse_within(document, surroundings)
        else:
            parsed = self.parse_document(document)

        findings, plan_id = parsed.findings, parsed.request_id
        if plan_id is None:
            plan_id = request_id or ""
            if not request_id and not findings:
                plan_id = _content_id(document, parsed.program)
        elif request_id and request_id != plan_id:
            findings += (_conflicting_ids(plan_id, request_id),)

        return Plan(
            self.name,
            plan_id,
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


def _content_id(document: Any, program: ProgramSource | None) -> str:
    if program is None:
        return hashlib.sha256(rfc8785.dumps(document)).hexdigest()
    return program.hash


def _conflicting_ids(plan_id: str, request_id: str) -> Finding:
    message = f"the plan's request_id is '{plan_id[:100]}', and '{request_id[:100]}' was given from outside"
    pointer = ""
    if plan_id:
        pointer = "/request_id"
    return Finding(Fault.SCHEMA_INVALID, message, pointer, "Give only one of the two.")


@cache
def checker(name: str) -> Checker:
    """Return the checker of a published schema; its fixes quote the description of the innermost known field."""
    document_schema = schema(name)
    words = dict(_descriptions(document_schema))

    def advice(pointer: str) -> str:
        for part in reversed(pointer.split("/")):
            if part in words:
                return f"{part}: {words[part]}"
        return f"See the published schema: blendwright schemas {name}"

    return Checker(document_schema, Fault.SCHEMA_INVALID, advice)


def proven(name: str, document: Any) -> None:
    """Check a document of ours against its published schema.

    Raise BlendwrightError if it breaks the schema, which is a defect.
    """
    refuse_broken(list(checker(name).findings(document)))


def refuse_broken(findings: list[Finding]) -> None:
    """Raise BlendwrightError for the first finding about a result of ours, if there is one."""
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
