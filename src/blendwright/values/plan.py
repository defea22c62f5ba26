"""A plan in the form that all layers below the dialects use: operations, dependencies, and the policies of its dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from blendwright.values.findings import Finding

TieBreak = Literal["id", "position"]
OnFailure = Literal["stop", "skip_dependents"]
OnUnknownTool = Literal["refuse", "fail_operation"]
OnNondeterministic = Literal["prove", "accept"]
Boundary = Literal["operation", "plan"]
Field = Literal["id", "tool", "args", "depends_on", "safety_level", "other"]

SOUND: frozenset[Field] = frozenset()

# Text in a message about a program, between the problem and the location of the caller.
CALLED_FROM = ", called from "


@dataclass(frozen=True, slots=True)
class Places:
    """The locations of an operation's fields in its document, as JSON pointers relative to the operation."""

    id: str = "/operation_id"
    tool: str = "/tool_name"
    args: str = "/args"
    depends_on: str = "/depends_on"
    safety_level: str = "/safety_level"


PLACES = Places()


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of an operation that no document contains: step `step` of `steps` of a macro that the caller called.

    `position` and `safety_level` belong to the caller's operation. `sources` maps pointers in the step's arguments to
    pointers in the caller's arguments. Blendwright keeps or undoes operations of one `group` together.
    """

    operation_id: str
    macro: str
    version: int
    position: int
    safety_level: str
    step: int
    steps: int
    title: str
    sources: Mapping[str, str]
    group: str | None

    @property
    def label(self) -> str:
        return f"step {self.step} of {self.steps} of {self.macro}, {self.title}"


def as_given(pointer: str, former_names: Mapping[str, str]) -> str:
    """Return a pointer into the arguments with the former name that the document uses."""
    name, slash, inner = pointer.removeprefix("/").partition("/")
    if name in former_names:
        return f"/{former_names[name]}{slash}{inner}"
    return pointer


def caller_pointer(pointer: str, sources: Mapping[str, str]) -> str | None:
    """Return the pointer in the caller's arguments that a pointer in a step's arguments comes from; None if it comes
    from the macro.
    """
    head, tail = pointer, ""
    while True:
        if head in sources:
            return sources[head] + tail
        if not head:
            return None
        head, _, last = head.rpartition("/")
        tail = f"/{last}{tail}"


@dataclass(frozen=True, slots=True)
class Site:
    """The location in a program that created an operation: the call, its named arguments, and its callers, innermost
    first.
    """

    file: str
    line: int
    column: int
    arguments: Mapping[str, tuple[int, int]]
    callers: tuple[tuple[str, int], ...] = ()

    def place(self, pointer: str) -> str:
        """Return the location of an argument as `file:line:column`. An empty pointer means the call itself."""
        name = ""
        if pointer:
            name = pointer.split("/")[1]
        line, column = self.arguments.get(name, (self.line, self.column))
        return f"{self.file}:{line}:{column}"

    @property
    def called_from(self) -> str:
        """The suffix of a message that names the outermost caller; empty without callers."""
        if self.callers:
            return f"{CALLED_FROM}{self.callers[-1][0]}:{self.callers[-1][1]}"
        return ""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The program behind a plan, for the journal. `hash` covers text, parameters and libraries."""

    text: str
    params: Mapping[str, Any]
    libraries: Mapping[str, str]
    hash: str
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A tool call of a plan.

    `pointer` is its location in the document, for findings; `safety_level` is the level that the plan declares.

    `unsound` names the fields that break the dialect's schema; they hold neutral values here. An operation whose id is
    unsound uses its pointer as id, which no valid id can equal. `origin` exists only for steps of macros; their pointer
    and places belong to the caller's operation. `model` holds the arguments as the tool's model, once the plan is
    valid. `former_names` maps arguments to the former names that the document uses. `site` exists for operations that a
    program created.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    depends_on: tuple[str, ...]
    safety_level: str | None
    position: int
    pointer: str
    places: Places = PLACES
    unsound: frozenset[Field] = SOUND
    origin: Origin | None = None
    model: Any = field(default=None, compare=False, repr=False)
    former_names: Mapping[str, str] | None = field(default=None, compare=False, repr=False)
    site: Site | None = None

    @property
    def caller_id(self) -> str:
        """The id of the caller's operation: the operation's id, or the id of the operation that called its macro."""
        if self.origin is None:
            return self.id
        return self.origin.operation_id

    def in_arguments(self, finding: Finding) -> Finding:
        """Return a finding about the arguments with its location in the plan's document, and the step for a macro."""
        base = self.pointer + self.places.args
        if self.former_names:
            finding = replace(finding, pointer=as_given(finding.pointer, self.former_names))
        if self.origin is None:
            return self.in_program(finding.under(base))

        pointer = self.pointer
        inner = caller_pointer(finding.pointer, self.origin.sources)
        if inner is not None:
            pointer = base + inner
        return self.in_program(replace(finding, message=f"{self.origin.label}: {finding.message}", pointer=pointer))

    def as_a_whole(self, finding: Finding) -> Finding:
        """Return a finding about the whole operation with its location in the plan's document."""
        if self.origin is None:
            return self.in_program(finding.under(self.pointer))
        return self.in_program(
            replace(finding, message=f"{self.origin.label}: {finding.message}", pointer=self.pointer)
        )

    def in_program(self, finding: Finding) -> Finding:
        """Return a finding with its location in the program that created the operation, if a program did."""
        if self.site is None or finding.place is not None:
            return finding
        inner = finding.pointer.removeprefix(self.pointer + self.places.args)
        if inner == finding.pointer:
            inner = ""
        place = self.site.place(inner)
        return replace(finding, message=finding.message + self.site.called_from, place=place)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that a dialect has parsed. The executor does not know the dialect: its differences are data in this class.

    `findings` are the dialect's findings about the document. A plan with findings never becomes valid. It still
    contains its readable operations, so that validation finds all other problems too.
    """

    dialect: str
    request_id: str
    operations: tuple[Operation, ...]
    tie_break: TieBreak
    on_failure: OnFailure
    boundary: Boundary = "operation"
    on_unknown_tool: OnUnknownTool = "refuse"
    findings: tuple[Finding, ...] = ()
    written: tuple[Operation, ...] | None = None
    """The operations of the document, if Blendwright has expanded macros among them."""
    on_nondeterministic: OnNondeterministic = "prove"
    """The treatment of unknown code: "prove" runs it twice and compares the results. A checkpoint stores the resulting scene."""
    remarks: Mapping[str, Any] | None = None
    """Data of the document in addition to its operations. Only the dialect reads it again, from the report."""

    notes: tuple[str, ...] = ()
    """Notes for the author, in sentences; they are not problems. Validation adds them."""
    program: ProgramSource | None = None

    single_call: bool = False
    """True for a single call outside of plans. Its request id is new, so no journal entry can answer it."""

    def as_written(self) -> Plan:
        """Return the plan with the operations of its document, before the expansion of macros."""
        if self.written is None:
            return self
        return replace(self, operations=self.written, written=None)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The operations of a valid plan in the order of their execution.

    `hash` is equal for equal operations, registries and baselines. If ids break ties, it does not depend on the
    document's order.
    """

    plan: Plan
    order: tuple[Operation, ...]
    hash: str
    unrunnable: Mapping[str, Finding] = field(default_factory=dict[str, Finding])
    """The operations that will fail, by id, if the plan's policy allows that."""
    implied_by: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """The unstated dependencies of each operation by id, each with its reason."""
