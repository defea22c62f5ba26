"""The port through which a person allows one operation: what is asked, who can be asked, and what an answer is worth.

An approval is bound to the hash of the operation that it was asked for, is good once, and expires. It comes from a terminal, from the
command line, or from a host that asks its user; never from a plan, nor from whoever wrote one. Keeping them is the journal's affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from blendwright.util.cancel import CancelToken
from blendwright.util.canonical import digest


class ApprovalAnswer(StrEnum):
    """What a person said. `none`: nobody was there to say anything, which is not a yes. `session`: yes, and to everything of its
    kind until the session ends."""

    APPROVED = "approved"
    SESSION = "session"
    DECLINED = "declined"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question. `id` is what a person types after `blendwright approve`.

    `what` is the call with a line for each path, and `why` the rules that ask for it. `shown` is what else must be seen before the
    answer, such as code. A surface displays all three whole, or does not ask; nothing in them is hidden from the eye. `in_person`: only
    an answer to this very question counts; a grant for many operations at once does not.
    """

    id: str
    operation_hash: str
    request_id: str
    operation_id: str
    tool: str
    safety_level: str
    what: str
    why: tuple[str, ...]
    expires: float
    """Seconds since the epoch."""
    shown: str = ""
    in_person: bool = False
    needed_grants: frozenset[str] = frozenset()
    """The names that an approval given beforehand would have to cover; known only while the run lasts."""

    @property
    def characters(self) -> int:
        """The length of everything that must be seen before the answer."""
        return sum(map(len, (self.operation_id, self.what, *self.why, self.shown)))

    @property
    def options(self) -> str:
        """The options of the command line that would have allowed it."""
        return " ".join(f"--approve {name}" for name in sorted(self.needed_grants))


@dataclass(frozen=True, slots=True)
class Approval:
    """An answer as it is kept: in the audit record of the operation, and in the journal. `by` says how it was given."""

    id: str
    answer: ApprovalAnswer
    by: str


class ApprovalPrompt(Protocol):
    """Someone who can be asked now: a terminal, or a host that asks its user."""

    @property
    def name(self) -> str:
        """How the answer was given, for the audit."""
        ...

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Ask and wait for the answer, until it expires or the run is cancelled (`none`)."""
        ...


@runtime_checkable
class SessionPrompt(ApprovalPrompt, Protocol):
    """Someone who is there for a whole session: who can be asked about all of a plan at once, and may allow a kind of operation."""

    @property
    def scope(self) -> str:
        """Whose session it is: what was allowed for one is not allowed for another."""
        ...

    def ask_together(self, requests: Sequence[ApprovalRequest], *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """One question that shows all of them; the answer is for each."""
        ...


@dataclass(frozen=True, slots=True)
class Approver:
    """Who approves on the caller's side: the prompt that can ask a person, and what is approved beforehand.

    `grants` are names of safety levels, safety modes, tools and roots. They come from the command line or the program that embeds
    the engine; no plan can hold one.
    """

    prompt: ApprovalPrompt | None = None
    grants: frozenset[str] = frozenset()

    def grants_all(self, request: ApprovalRequest) -> bool:
        """Whether what the request needs was approved beforehand, so that nobody has to be asked."""
        return not request.in_person and request.needed_grants <= self.grants


NOBODY = Approver()


def operation_hash(
    tool: str, version: int, args: Mapping[str, Any], *, key: str | None, baseline: str, after: str = ""
) -> str:
    """What an approval is bound to: the call in canonical form with the paths that it leads to, its operation key where it belongs to
    a plan, the scene hash that the run starts from, and everything that the plan does before it. Whatever of these is another makes
    it another operation."""
    bound = {"tool": tool, "version": version, "args": dict(args), "key": key, "baseline": baseline, "after": after}
    return digest(bound)
