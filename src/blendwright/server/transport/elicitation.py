"""Approvals by elicitation: the protocol asks the host's user, and the answer does not pass the model.

With older protocol versions the server sends the host a request and waits. With newer ones it answers the call with a
question, and the host repeats the call with the answer. The run waits meanwhile, and other clients have their turns.
In both cases the engine sees one approver.
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
# The most open questions, because each keeps a thread until its answer or expiry. Further ones wait for `blendwright approve`.
MAX_OPEN_QUESTIONS = 64
# The most characters of a message that hosts display completely.
MAX_MESSAGE_CHARACTERS = 20_000
ALLOW = {"type": "boolean", "title": "Allow it", "description": "Once, exactly as shown."}
FOR_SESSION = {
    "type": "boolean",
    "title": "Also allow everything of this kind in this session",
    "description": "Until the session ends, or `blendwright approve --revoke ID`.",
    "default": False,
}


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """Approval requests that one question puts to the host's user, and the answer to come."""

    requests: tuple[ApprovalRequest, ...]
    answer: Future[ApprovalAnswer] = field(default_factory=Future[ApprovalAnswer])

    def resolve(self, answer: ApprovalAnswer) -> None:
        """Set the answer. Only the first call has an effect."""
        with contextlib.suppress(InvalidStateError):
            self.answer.set_result(answer)

    @property
    def message(self) -> str:
        if len(self.requests) == 1:
            return escape_invisible(f"Blendwright: {_described(self.requests[0])}{self._kind}")
        lines = [f"{number}. {_described(request)}" for number, request in enumerate(self.requests, 1)]
        heading = f"Blendwright: {len(self.requests)} operations of a plan, each to be allowed once:"
        return escape_invisible("\n".join([heading, *lines]) + self._kind)

    @property
    def form(self) -> dict[str, Any]:
        """Return the JSON Schema of the form. Requests that need a person's look each time offer no permission for the session."""
        fields: dict[str, Any] = {"allow": ALLOW}
        if self._kinds:
            fields["session"] = FOR_SESSION
        return {"type": "object", "properties": fields, "required": ["allow"]}

    @property
    def _kinds(self) -> list[str]:
        kinds: set[str] = set()
        for request in self.requests:
            if not request.in_person:
                kinds.update(request.needed_grants)
        return sorted(kinds)

    @property
    def _kind(self) -> str:
        if self._kinds:
            return f"\nKind: {', '.join(self._kinds)}."
        return ""


def _described(request: ApprovalRequest) -> str:
    shown = ""
    if request.shown:
        shown = f"\n\n{request.shown}"
    reasons = "".join(f"\nAsked because of {reason}." for reason in request.why)
    return f"{request.operation_id}: {request.what}{reasons}{shown}"


class HostApprover:
    """An approver that asks the host's user. `send` sends the question and must be callable from any thread."""

    name = "host"

    def __init__(self, send: Callable[[PendingApproval], Any], scope: str = "") -> None:
        self._send = send
        self.scope = scope

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        return self.ask_together([request], cancel=cancel)

    def ask_together(self, requests: Sequence[ApprovalRequest], *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        pending = PendingApproval(tuple(requests))
        if len(pending.message) > MAX_MESSAGE_CHARACTERS:
            return ApprovalAnswer.NONE  # hosts may cut it; the refusal names other ways to approve
        unsubscribe = None
        if cancel is not None:
            unsubscribe = cancel.subscribe(lambda: pending.resolve(ApprovalAnswer.NONE))
        self._send(pending)
        try:
            expires = min(request.expires for request in requests)
            return pending.answer.result(max(0.0, expires - time.time()))
        except FutureTimeout:
            return ApprovalAnswer.NONE
        finally:
            if unsubscribe is not None:
                unsubscribe()


class AsidePrompt:
    """A prompt that asks the user of the client that has the turn. Other clients have their turns until the answer
    arrives.
    """

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
    """Return the answer of a form. Only `allow: true` is an approval, and closing the form is no answer."""
    content = result.content or {}
    if result.action == "accept" and content.get("allow") is True:
        if content.get("session") is True:
            return ApprovalAnswer.SESSION
        return ApprovalAnswer.APPROVED
    if result.action == "cancel":
        return ApprovalAnswer.NONE
    return ApprovalAnswer.DECLINED


def session_approver(session: ServerSession, related: types.RequestId | None) -> HostApprover:
    """Return an approver for older protocol versions, which sends a request to the host during the call."""
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
    """A call with a newer protocol version, which the host may repeat several times until it is answered."""

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
        """Resolve the pending approval with the user's answer. Any other response counts as no answer."""
        pending, self._pending = self._pending, None
        result = (responses or {}).get(KEY)
        if pending is None:
            return
        answer = ApprovalAnswer.NONE
        if isinstance(result, types.ElicitResult):
            answer = answer_of(result)
        pending.resolve(answer)

    async def next(self) -> ToolResponse | PendingApproval:
        """Return the response to the call, or the approval that it waits for."""
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
    """Calls that wait for their host to repeat them. Each token identifies one call and is valid once."""

    def __init__(self) -> None:
        self._calls: dict[str, MultiRoundCall] = {}

    def suspend(self, call: MultiRoundCall, pending: PendingApproval) -> types.InputRequiredResult:
        token = secrets.token_urlsafe(24)
        self._calls[token] = call
        assert call.task is not None
        # After the question has expired the run continues without an answer, so forget the call when its task ends.
        call.task.add_done_callback(lambda _: self._calls.pop(token, None))
        form = types.ElicitRequestFormParams(message=pending.message, requested_schema=pending.form)
        return types.InputRequiredResult(input_requests={KEY: types.ElicitRequest(params=form)}, request_state=token)

    def resume(self, token: str, name: str, arguments: Mapping[str, Any]) -> MultiRoundCall | None:
        """Return the suspended call and remove it, or return None unless name and arguments are the same."""
        call = self._calls.get(token)
        if call is None or (call.name, call.arguments) != (name, dict(arguments)):
            return None
        return self._calls.pop(token)
