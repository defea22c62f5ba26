"""The port through which a person approves an operation: the question, the person to ask, and the effect of an answer.

An approval belongs to the hash of one operation, is valid once, and expires. It comes from a terminal, from the command
line, or from a host that asks its user. It never comes from a plan or from the author of a plan. The journal stores
approvals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from blendwright.util.cancel import CancelToken
from blendwright.util.canonical import digest


class ApprovalAnswer(StrEnum):
    """A person's answer. `none` means that no person answered, which does not approve.

    `session` approves this operation and all of its kind until the session ends.
    """

    APPROVED = "approved"
    SESSION = "session"
    DECLINED = "declined"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A question to a person. `id` is the argument of `blendwright approve`.

    `what` is the call with a line for each path, and `why` lists the rules that require approval. `shown` holds further
    text that the person must see, such as code. A user interface shows all three completely, or does not ask. They
    contain no invisible characters. With `in_person`, only an answer to this question counts, and a general grant does
    not.
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
    """The names that an advance approval would need to cover; known only during the run."""

    @property
    def characters(self) -> int:
        """The number of characters that the person must see before the answer."""
        return sum(map(len, (self.operation_id, self.what, *self.why, self.shown)))

    @property
    def options(self) -> str:
        """The command-line options that would have approved the operation."""
        return " ".join(f"--approve {name}" for name in sorted(self.needed_grants))


@dataclass(frozen=True, slots=True)
class Approval:
    """An answer as stored in the audit record of the operation and in the journal. `by` names its source."""

    id: str
    answer: ApprovalAnswer
    by: str


class ApprovalPrompt(Protocol):
    """A way to ask a person now: a terminal, or a host that asks its user."""

    @property
    def name(self) -> str:
        """The source of the answer, for the audit."""
        ...

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Ask and return the answer. Return `none` after expiry or if the run is cancelled."""
        ...


@runtime_checkable
class SessionPrompt(ApprovalPrompt, Protocol):
    """A prompt for a whole session.

    It can ask about a whole plan at once, and the person may approve a kind of operation.
    """

    @property
    def scope(self) -> str:
        """The name of the session. An approval in one session does not apply to another."""
        ...

    def ask_together(self, requests: Sequence[ApprovalRequest], *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        """Ask one question that shows all requests; the answer applies to each."""
        ...


@dataclass(frozen=True, slots=True)
class Approver:
    """The approving side of a caller: a prompt that can ask a person, and advance approvals.

    `grants` are names of safety levels, safety modes, tools and roots. They come from the command line or the embedding
    program, and never from a plan.
    """

    prompt: ApprovalPrompt | None = None
    grants: frozenset[str] = frozenset()

    def grants_all(self, request: ApprovalRequest) -> bool:
        """Return True if the grants cover everything that the request needs, so that no question is necessary."""
        return not request.in_person and request.needed_grants <= self.grants


NOBODY = Approver()


def operation_hash(
    tool: str, version: int, args: Mapping[str, Any], *, key: str | None, baseline: str, after: str = ""
) -> str:
    """Return the hash that an approval belongs to.

    It covers the call in canonical form with its resolved paths, its operation key within a plan, the scene hash before
    the run, and everything that the plan does before the call. Any difference makes it another operation.
    """
    bound = {"tool": tool, "version": version, "args": dict(args), "key": key, "baseline": baseline, "after": after}
    return digest(bound)
