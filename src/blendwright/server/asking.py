"""Approvals by the host's user: the question goes out through the protocol, the answer comes back past the model.

The older era sends the host a request of its own and waits. The newer one knows no such requests: the call is answered by what is
needed, and comes again with it; meanwhile the run waits where it is. Either way the engine sees one approver that answers or does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from blendwright.policy.approvals import ApprovalAnswer, ApprovalRequest
from blendwright.server.answers import Answer as Reply
from blendwright.server.progress import Progress
from blendwright.values.cancel import CancelToken
from blendwright.values.invisible import escape_invisible

KEY = "approval"
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow it", "description": "Once, exactly as it is shown."}},
    "required": ["allow"],
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One question on its way."""

    request: ApprovalRequest
    answer: Future[ApprovalAnswer] = field(default_factory=Future[ApprovalAnswer])

    def settle(self, answer: ApprovalAnswer) -> None:
        """The first answer counts."""
        with contextlib.suppress(InvalidStateError):
            self.answer.set_result(answer)

    @property
    def message(self) -> str:
        asked = self.request
        shown = f"\n\n{asked.shown}" if asked.shown else ""
        why = ", ".join(asked.why)
        return escape_invisible(f"Blendwright: {asked.operation_id}: {asked.what}\nAsked because of {why}.{shown}")


class HostPrompt:
    """Puts questions to the host's user; `put` may be called in any thread."""

    name = "host"

    def __init__(self, put: Callable[[Asked], None]) -> None:
        self._put = put

    def ask(self, request: ApprovalRequest, *, cancel: CancelToken | None = None) -> ApprovalAnswer:
        asked = Asked(request)
        forget = None if cancel is None else cancel.subscribe(lambda: asked.settle(ApprovalAnswer.NONE))
        self._put(asked)
        try:
            return asked.answer.result(max(0.0, request.expires - time.time()))
        except Late:
            return ApprovalAnswer.NONE
        finally:
            if forget is not None:
                forget()


def said(result: types.ElicitResult) -> ApprovalAnswer:
    """Only a clear yes is one. Whoever closed the form said nothing."""
    if result.action == "accept" and (result.content or {}).get("allow") is True:
        return ApprovalAnswer.APPROVED
    return ApprovalAnswer.NONE if result.action == "cancel" else ApprovalAnswer.DECLINED


def through_session(session: ServerSession, related: types.RequestId | None) -> HostPrompt:
    """The older era: a request to the host, in the middle of the call."""
    loop = asyncio.get_running_loop()

    async def elicit(asked: Asked) -> None:
        try:
            asked.settle(said(await session.elicit_form(asked.message, FORM, related)))
        except (MCPError, ValidationError):
            pass  # a host that cannot ask after all, or whose answer is none
        finally:
            asked.settle(
                ApprovalAnswer.NONE
            )  # also where the host leaves: nobody is kept waiting for what cannot come any more

    return HostPrompt(lambda asked: _start(elicit(asked), loop))


def _start(work: Any, loop: asyncio.AbstractEventLoop) -> None:
    asyncio.run_coroutine_threadsafe(work, loop)


class Conversation:
    """The newer era: one call that may come several times, until it is answered."""

    def __init__(self, client: str, name: str, arguments: Mapping[str, Any], progress: Progress) -> None:
        self.about = (client, name, dict(arguments))
        self.progress = progress
        self.cancel = CancelToken()
        self._loop = asyncio.get_running_loop()
        self._questions: asyncio.Queue[Asked] = asyncio.Queue()
        self._open: Asked | None = None
        self.prompt = HostPrompt(
            lambda asked: self._loop.call_soon_threadsafe(self._questions.put_nowait, asked) and None
        )
        self.task: asyncio.Task[Reply] | None = None

    def answer(self, responses: Mapping[str, Any] | None) -> None:
        """What the host's user said to the open question; anything else than an answer to it is none."""
        asked, self._open = self._open, None
        found = (responses or {}).get(KEY)
        if asked is not None:
            asked.settle(said(found) if isinstance(found, types.ElicitResult) else ApprovalAnswer.NONE)

    async def next(self) -> Reply | Asked:
        """The answer to the call, or the question that stands before it."""
        assert self.task is not None
        question = asyncio.ensure_future(self._questions.get())
        try:
            await asyncio.wait([self.task, question], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        finally:
            if not question.done():
                question.cancel()
        if question.done() and not question.cancelled():
            self._open = question.result()
            return self._open
        return await self.task


class Conversations:
    """Calls that wait for their host to come back. A token names one; it is good for one return."""

    def __init__(self) -> None:
        self._waiting: dict[str, Conversation] = {}

    def wait(self, conversation: Conversation, asked: Asked) -> types.InputRequiredResult:
        token = secrets.token_urlsafe(24)
        self._waiting[token] = conversation
        assert conversation.task is not None
        # Once the question has expired the run goes on without an answer, and nobody needs to find it any more.
        conversation.task.add_done_callback(lambda _: self._waiting.pop(token, None))
        form = types.ElicitRequestFormParams(message=asked.message, requested_schema=FORM)
        return types.InputRequiredResult(input_requests={KEY: types.ElicitRequest(params=form)}, request_state=token)

    def back(self, token: str, about: tuple[str, str, dict[str, Any]]) -> Conversation | None:
        """The conversation, for the very call that began it."""
        found = self._waiting.get(token)
        if found is None or found.about[1:] != about[1:]:
            return None
        del self._waiting[token]
        return found
