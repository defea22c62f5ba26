"""One conversation with a core, request by request: parses, dispatches, and keeps the answers in the order of the requests.

Knows nothing of Blender, of what the methods do, or of how frames travel. A request that is wrong in itself gets an error answer.
This is one of the outermost places: whatever a handler raises becomes an answer here, with the stack trace in the log only.
"""

import json
import logging
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, NoReturn, Protocol, cast

from pydantic_core import from_json, to_json

from blendwright.wire import frames

Handler = Callable[[dict[str, Any]], object]

_MESSAGE_LIMIT = 2000
# So many answers may be pending while requests keep coming: a sender with a window waits for none of them much longer.
MOST_PENDING = 32
LONGEST_PENDING = 0.05

logger = logging.getLogger(__name__)

# Not ASCII-escaped: a lone surrogate then fails here, as this answer's error, and not at the other end, as a breach of the protocol.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Deferred(Protocol):
    """What a handler returns when its answer can wait until the requests behind it have been taken in."""

    def finish(self) -> object: ...


class Refused(Exception):
    """An answer of `error`; handlers may raise it to choose the code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotYet(Exception):
    """Raised by a handler that cannot begin yet and has done nothing: the request is kept, and tried again with `Conversation.retry`."""


class Conversation:
    """With one core, from its hello on."""

    def __init__(self, handlers: Mapping[str, Handler], last_id: int = 0) -> None:
        self._pending: list[tuple[int, Deferred]] = []
        self._pending_since = 0.0
        self._handlers = handlers
        self._last_id = last_id
        self._greeted = False
        self._held: tuple[int, str, dict[str, Any]] | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a request is kept that could not begin yet."""
        return self._held is not None

    def receive(self, body: bytes) -> list[bytes]:
        """The answers that go out now, in order; none when the one to this request comes later."""
        return self._behind_pending(self._answer(body))

    def retry(self) -> list[bytes]:
        """The answer to the request that is kept, if it can be answered by now."""
        assert self._held is not None
        request, self._held = self._held, None
        return self._behind_pending(self._answer_to(*request))

    def drop(self, code: str, message: str) -> list[bytes]:
        """The request that is kept is not tried again."""
        assert self._held is not None
        (request_id, *_), self._held = self._held, None
        return self._behind_pending(error_answer(request_id, code, message))

    def must_answer_pending(self) -> bool:
        """Whoever waits has a deadline for each answer: slow steps must not add up behind one another."""
        if not self._pending:
            return False
        return len(self._pending) >= MOST_PENDING or monotonic() - self._pending_since > LONGEST_PENDING

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def answer_pending(self) -> list[bytes]:
        """The answers that waited."""
        pending, self._pending = self._pending, []
        # The first one to be finished finishes all: their answers go out together.
        return [self._bytes(number, deferred.finish) for number, deferred in pending]

    def _behind_pending(self, answer: bytes | None) -> list[bytes]:
        if answer is None:
            return []
        return [*self.answer_pending(), answer]

    def _answer(self, body: bytes) -> bytes | None:
        """The answer to a request; None when it is pending and comes later."""
        request_id: int | None = None
        try:
            request = _parse(body)
            request_id = _id_of(request)
            if request_id <= self._last_id:
                raise Refused("out_of_order", f"request id {request_id} is not greater than the last, {self._last_id}")
            self._last_id = request_id
            method, params = _method_of(request)
        except Refused as refusal:
            return error_answer(request_id, refusal.code, str(refusal))
        return self._answer_to(request_id, method, params)

    def _answer_to(self, request_id: int, method: str, params: dict[str, Any]) -> bytes | None:
        deferred: list[Deferred] = []
        try:
            answer = self._bytes(request_id, lambda: self._dispatch(method, params), deferred)
        except NotYet:
            self._held = (request_id, method, params)
            return None
        if deferred:
            if not self._pending:
                self._pending_since = monotonic()
            self._pending.append((request_id, deferred[0]))
            return None
        return answer

    def _bytes(self, request_id: int, act: Callable[[], object], deferred: list[Deferred] | None = None) -> bytes:
        """The answer that an act gives. A result that can wait goes into `deferred` instead, where there is one."""
        try:
            result = act()
            # By its method: asking a protocol with isinstance takes longer than encoding an answer.
            if deferred is not None and hasattr(result, "finish"):
                deferred.append(cast("Deferred", result))
                return b""
            answer = encoded({"id": request_id, "result": result})
        except Refused as refusal:
            return error_answer(request_id, refusal.code, str(refusal))
        except NotYet:
            raise
        except (Exception, SystemExit) as error:
            # The outermost place: a handler that fails, or code in it that calls sys.exit, must not end the worker.
            logger.exception("request %s failed", request_id)
            return error_answer(request_id, "internal_error", f"{type(error).__name__}: {error}")
        if len(answer) > frames.MAX_FRAME:
            message = f"the answer has {len(answer)} bytes, at most {frames.MAX_FRAME} fit a frame"
            return error_answer(request_id, "oversized_answer", message)
        return answer

    def _dispatch(self, method: str, params: dict[str, Any]) -> object:
        if method == "hello":
            return self._hello(params)
        if not self._greeted:
            raise Refused("handshake_required", f"the first request must be hello, not {method}")
        handler = self._handlers.get(method)
        if handler is None:
            raise Refused("unknown_method", f"there is no method {method!r}")
        return handler(params)

    def _hello(self, params: dict[str, Any]) -> dict[str, object]:
        if self._greeted:
            raise Refused("handshake_done", "hello was said already")
        theirs = params.get("protocol")
        if type(theirs) is not int or theirs != frames.PROTOCOL:
            message = f"the core speaks protocol {theirs!r}, this worker speaks protocol {frames.PROTOCOL}"
            raise Refused("protocol_mismatch", message)
        about = cast("dict[str, object]", self._handlers["hello"](params))
        self._greeted = True
        return {"protocol": frames.PROTOCOL, **about}


def encoded(answer: dict[str, Any]) -> bytes:
    """The bytes of an answer; raises when it has no JSON. The standard library takes three times as long, and has the last word."""
    try:
        raw = to_json(answer)
    except ValueError:
        return _encode(answer).encode()
    if b"NaN" in raw or b"Infinity" in raw:
        return _encode(answer).encode()
    return raw


def _parse(body: bytes) -> dict[str, Any]:
    try:
        request: object = from_json(body, allow_inf_nan=False)
    except ValueError:
        request = _parse_slowly(body)
    if not isinstance(request, dict):
        raise Refused("malformed_request", "the request is not a JSON object")
    return cast("dict[str, Any]", request)


def _parse_slowly(body: bytes) -> object:
    """The standard library takes three times as long, goes deeper, and has the last word on what is no JSON."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused("malformed_request", f"the request is not JSON: {error}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _id_of(request: dict[str, Any]) -> int:
    request_id = request.get("id")
    # A bool is an int to isinstance, and is no id.
    if type(request_id) is not int or request_id < 1:
        raise Refused("malformed_request", "the request needs an id, an integer from 1")
    return request_id


def _method_of(request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    method, params = request.get("method"), request.get("params", {})
    if not isinstance(method, str):
        raise Refused("malformed_request", "the request needs a method, a string")
    if not isinstance(params, dict):
        raise Refused("malformed_request", "params must be an object")
    return method, cast("dict[str, Any]", params)


def error_answer(request_id: int | None, code: str, message: str) -> bytes:
    """The bytes of an answer of `error`."""
    line = " ".join(message.split())[:_MESSAGE_LIMIT]
    # A message may quote anything, also names that are no UTF-8; an error answer itself must never fail.
    text = line.encode("utf-8", "replace").decode()
    return _encode({"id": request_id, "error": {"code": code, "message": text}}).encode()
