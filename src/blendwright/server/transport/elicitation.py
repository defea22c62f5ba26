"""Approvals by elicitation: the question goes to the host's user through the protocol, and the answer does not pass the model.

The older era sends the host a request of its own and waits. The newer one has no such requests: the call is answered with what is
needed, and comes again with it; meanwhile the run waits where it is, and the other clients have their turns. Either way the engine
sees one approver that answers or does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from blendwright.server.answers.response import ToolResponse
from blendwright.server.transport.client_info import ProgressReporter
from blendwright.server.workspace_queue import WorkspaceQueue
from blendwright.util.cancel import CancelToken
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest, SessionPrompt

KEY = "approval"
# Each keeps a thread until it is answered or expires. What would be one more is left for `blendwright approve`.
MAX_OPEN_QUESTIONS = 64
# Characters of a message that hosts can be expected to display whole.
MAX_MESSAGE_CHARACTERS = 20_000
ALLOW = {"type": "boolean", "title": "Allow it", "description": "Once, exactly as it is shown."}
FOR_SESSION = {
    "type": "boolean",
    "title": "And everything of this kind in this session",
    "description": "Until the session ends, or `blendwright approve --revoke ID`.",
    "default": False,
}


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """Approval requests that were put to the host's user in one question, and the answer to come."""

    requests: tuple[ApprovalRequest, ...]
    answer: Future[ApprovalAnswer] = field(default_factory=Future[ApprovalAnswer])

    def resolve(self, answer: ApprovalAnswer) -> None:
        """The first answer counts."""
        with contextlib.suppress(InvalidStateError):
            self.answer.set_result(answer)

    @property
    def message(self) -> str:
        if len(self.requests) == 1:
            return escape_invisible(f"Blendwright: {_described(self.requests[0])}{self._kind}")
        listed = "\n".join(f"{number}. {_described(one)}" for number, one in enumerate(self.requests, 1))
        count = len(self.requests)
        return escape_invisible(
            f"Blendwright: {count} operations of a plan, each to be allowed once:\n{listed}{self._kind}"
        )

    @property
    def form(self) -> dict[str, Any]:
        """What the user fills in. What must be seen by a person cannot be allowed as a kind."""
        fields = {"allow": ALLOW} | ({"session": FOR_SESSION} if self._kinds else {})
        return {"type": "object", "properties": fields, "required": ["allow"]}

    @property
    def _kinds(self) -> list[str]:
        return sorted({name for one in self.requests if not one.in_person for name in one.needed_grants})

    @property
    def _kind(self) -> str:
        if self._kinds:
            return f"\nIts kind: {', '.join(self._kinds)}."
        return ""


def _described(request: ApprovalRequest) -> str:
    if request.shown:
        shown = f"\n\n{request.shown}"
    else:
        shown = ""
    reasons = "".join(f"\nAsked because of {reason}." for reason in request.why)
    return f"{request.operation_id}: {request.what}{reasons}{shown}"


class HostApprover:
    """Asks the host's user. `send` puts the question on its way and may be called in any thread."""

    name = "host"

    def __init__(self, send: Callable[[PendingApproval], Any], scope: str = "") -> None:
        self._send = send
        self.scope = scope

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return self.ask_together([request], cancel=cancel)

    def ask_together(self, requests: Sequence[ApprovalRequest], *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        pending = PendingApproval(tuple(requests))
        if len(pending.message) > MAX_MESSAGE_CHARACTERS:
            return ApprovalAnswer.NONE  # hosts may cut it; the refusal says how to answer elsewhere
        if cancel is None:
            unsubscribe = None
        else:
            unsubscribe = cancel.subscribe(lambda: pending.resolve(ApprovalAnswer.NONE))
        self._send(pending)
        try:
            return pending.answer.result(max(0.0, min(one.expires for one in requests) - time.time()))
        except FutureTimeout:
            return ApprovalAnswer.NONE
        finally:
            if unsubscribe is not None:
                unsubscribe()


class AsidePrompt:
    """Asks the user of a client that has the turn, and lets the other clients have theirs until the answer is there."""

    def __init__(self, prompt: SessionPrompt, queue: WorkspaceQueue, client: str) -> None:
        self.name = prompt.name
        self.scope = client
        self._prompt = prompt
        self._queue = queue
        self._client = client

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return self.ask_together([request], cancel=cancel)

    def ask_together(self, requests: Sequence[ApprovalRequest], *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        if self._queue.aside >= MAX_OPEN_QUESTIONS:
            return ApprovalAnswer.NONE
        return self._queue.step_aside(self._client, lambda: self._prompt.ask_together(requests, cancel=cancel))


def answer_of(result: types.ElicitResult) -> ApprovalAnswer:
    """Only a clear yes is one. Whoever closed the form said nothing."""
    content = result.content or {}
    if result.action == "accept" and content.get("allow") is True:
        if content.get("session") is True:
            return ApprovalAnswer.SESSION
        return ApprovalAnswer.APPROVED
    if result.action == "cancel":
        return ApprovalAnswer.NONE
    return ApprovalAnswer.DECLINED


def session_approver(session: ServerSession, related: types.RequestId | None) -> HostApprover:
    """The older era: a request to the host, in the middle of the call."""
    loop = asyncio.get_running_loop()

    async def elicit(pending: PendingApproval) -> None:
        try:
            pending.resolve(answer_of(await session.elicit_form(pending.message, pending.form, related)))
        except (MCPError, ValidationError):
            pass  # a host that cannot ask after all, or whose answer is none
        finally:
            # Also where the host leaves: nobody is kept waiting for what cannot come any more.
            pending.resolve(ApprovalAnswer.NONE)

    return HostApprover(lambda pending: asyncio.run_coroutine_threadsafe(elicit(pending), loop))


class MultiRoundCall:
    """The newer era: one call that may come several times, until it is answered."""

    def __init__(self, name: str, arguments: Mapping[str, Any], progress: ProgressReporter) -> None:
        self.name = name
        self.arguments = dict(arguments)
        self.progress = progress
        self.cancel = CancelToken()
        self.task: asyncio.Task[ToolResponse] | None = None
        self._requests: asyncio.Queue[PendingApproval] = asyncio.Queue()
        self._pending: PendingApproval | None = None
        loop = asyncio.get_running_loop()
        self.approver = HostApprover(lambda pending: loop.call_soon_threadsafe(self._requests.put_nowait, pending))

    def answer(self, responses: Mapping[str, Any] | None) -> None:
        """Resolve the pending approval with what the host's user said; anything else than an answer to it is none."""
        pending, self._pending = self._pending, None
        result = (responses or {}).get(KEY)
        if pending is not None:
            pending.resolve(answer_of(result) if isinstance(result, types.ElicitResult) else ApprovalAnswer.NONE)

    async def next(self) -> ToolResponse | PendingApproval:
        """The response to the call, or the approval that it waits for."""
        assert self.task is not None
        request = asyncio.ensure_future(self._requests.get())
        try:
            await asyncio.wait([self.task, request], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        finally:
            if not request.done():
                request.cancel()
        if request.done() and not request.cancelled():
            self._pending = request.result()
            return self._pending
        return await self.task


class PendingCalls:
    """Calls that wait for their host to come back. A token names one, and is good for one return."""

    def __init__(self) -> None:
        self._calls: dict[str, MultiRoundCall] = {}

    def suspend(self, call: MultiRoundCall, pending: PendingApproval) -> types.InputRequiredResult:
        token = secrets.token_urlsafe(24)
        self._calls[token] = call
        assert call.task is not None
        # Once the question has expired the run goes on without an answer, and nobody needs to find it any more.
        call.task.add_done_callback(lambda _: self._calls.pop(token, None))
        form = types.ElicitRequestFormParams(message=pending.message, requested_schema=pending.form)
        return types.InputRequiredResult(input_requests={KEY: types.ElicitRequest(params=form)}, request_state=token)

    def resume(self, token: str, name: str, arguments: Mapping[str, Any]) -> MultiRoundCall | None:
        """The suspended call, for the very same name and arguments only."""
        call = self._calls.get(token)
        if call is None or (call.name, call.arguments) != (name, dict(arguments)):
            return None
        return self._calls.pop(token)
