"""A plan as every layer below the dialects knows it: operations, what they wait for, and the policies that differ by dialect."""

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

# In the message of a finding in a program, before the place that called the function it was met in.
CALLED_FROM = ", called from "


@dataclass(frozen=True, slots=True)
class Places:
    """Where the fields of an operation stand in its document, as pointers relative to the operation."""

    id: str = "/operation_id"
    tool: str = "/tool_name"
    args: str = "/args"
    depends_on: str = "/depends_on"
    safety_level: str = "/safety_level"


PLACES = Places()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an operation comes from that no document has: step number `step` of `steps` of a macro that the caller named.

    `position` and `safety_level` are those of the caller's operation. `sources` leads from places in the step's arguments to
    places in the caller's. Operations of one `group` are kept or taken back together.
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
    """A place in the arguments by the name that the document has for it."""
    name, slash, rest = pointer.removeprefix("/").partition("/")
    if name in former_names:
        return f"/{former_names[name]}{slash}{rest}"
    return pointer


def caller_pointer(pointer: str, sources: Mapping[str, str]) -> str | None:
    """Where in the caller's arguments a place in the arguments of a step comes from; None where it is the macro's own."""
    head, rest = pointer, ""
    while True:
        if head in sources:
            return sources[head] + rest
        if not head:
            return None
        head, _, last = head.rpartition("/")
        rest = f"/{last}{rest}"


@dataclass(frozen=True, slots=True)
class Site:
    """Where in a program an operation was made: the call, its named arguments, and the lines that led to it, innermost first."""

    file: str
    line: int
    column: int
    arguments: Mapping[str, tuple[int, int]]
    callers: tuple[tuple[str, int], ...] = ()

    def place(self, pointer: str) -> str:
        """As `file:line:column`. `pointer` leads into the arguments; without one it is that of the call."""
        line, column = self.arguments.get(pointer.split("/")[1] if pointer else "", (self.line, self.column))
        return f"{self.file}:{line}:{column}"

    @property
    def called_from(self) -> str:
        """For a message: nothing where the call stands by itself."""
        if self.callers:
            return f"{CALLED_FROM}{self.callers[-1][0]}:{self.callers[-1][1]}"
        return ""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The program that a plan comes from, for the journal. `hash` is that of text, parameters and libraries."""

    text: str
    params: Mapping[str, Any]
    libraries: Mapping[str, str]
    hash: str
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One tool call of a plan. `pointer` is its place in the document, for findings; `safety_level` is what the plan declares.

    `unsound` names the fields that do not fit the dialect's schema and hold something neutral here instead. An operation
    whose id is unsound goes by its pointer, which no proper id can equal. `origin` is there for steps of macros only; their
    pointer and places are those of the caller's operation. `model` is the arguments as their tool's model, once the plan is valid.
    `former_names` are the arguments that its document has under a former name, with that name.
    `site` is there for operations that a program made.
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
        """The id of the caller's operation: its own, or that of the operation whose macro it is a step of."""
        if self.origin is None:
            return self.id
        return self.origin.operation_id

    def in_arguments(self, finding: Finding) -> Finding:
        """A finding about its arguments, with its place in the plan's document. Of a step of a macro it says which step."""
        base = self.pointer + self.places.args
        if self.former_names:
            finding = replace(finding, pointer=as_given(finding.pointer, self.former_names))
        if self.origin is None:
            return self.in_program(finding.under(base))
        inner = caller_pointer(finding.pointer, self.origin.sources)
        if inner is None:
            pointer = self.pointer
        else:
            pointer = base + inner
        return self.in_program(replace(finding, message=f"{self.origin.label}: {finding.message}", pointer=pointer))

    def as_a_whole(self, finding: Finding) -> Finding:
        """A finding about the operation, with its place in the plan's document."""
        if self.origin is None:
            return self.in_program(finding.under(self.pointer))
        return self.in_program(
            replace(finding, message=f"{self.origin.label}: {finding.message}", pointer=self.pointer)
        )

    def in_program(self, finding: Finding) -> Finding:
        """A finding with its place in the plan's document, and where a program made the operation, in that program too."""
        if self.site is None or finding.place is not None:
            return finding
        inner = finding.pointer.removeprefix(self.pointer + self.places.args)
        place = self.site.place(inner if inner != finding.pointer else "")
        return replace(finding, message=finding.message + self.site.called_from, place=place)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a dialect parses its text into. The executor never knows which dialect it was: what differs is data here.

    `findings` is what the dialect found wrong with the document; a plan that has some never becomes a valid one, but its
    operations are still there as far as they can be read, so that everything else that is wrong is found too.
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
    """The operations as the document has them, where macros among them were expanded."""
    on_nondeterministic: OnNondeterministic = "prove"
    """Whether code, of which nobody knows, must do the same twice. What it and others leave is pinned by a checkpoint."""
    remarks: Mapping[str, Any] | None = None
    """What the document says beside its operations: carried into the report for the dialect's result, read by nobody else."""

    notes: tuple[str, ...] = ()
    """What its author should know although nothing is wrong, in sentences; known once it is valid."""
    program: ProgramSource | None = None

    single_call: bool = False
    """A call that belongs to no plan: its request id is new, so that nothing in the journal answers it, now or later."""

    def as_written(self) -> Plan:
        """The plan as its author knows it."""
        if self.written is None:
            return self
        return replace(self, operations=self.written, written=None)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The operations of a valid plan in the order in which they run.

    `hash` is equal for equal operations, registries and baselines, whatever the order in the document where ids break ties.
    """

    plan: Plan
    order: tuple[Operation, ...]
    hash: str
    unrunnable: Mapping[str, Finding] = field(default_factory=dict[str, Finding])
    """Operations that cannot but fail, by id, where the plan's policy is to let them."""
    implied_by: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """By id, the operations that one waits for without saying so, and why."""
