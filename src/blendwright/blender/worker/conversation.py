"""The worker's half of a conversation with a core: parse and dispatch requests, and keep the answers in their order.

This module knows nothing of Blender, of the methods, or of the transport of frames. A malformed request gets an error answer.
This is one of the outermost layers: every exception of a handler becomes an answer here, and its stack trace goes only to the log.
"""

import json
import logging
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, NoReturn, Protocol, cast

from pydantic_core import from_json, to_json

from blendwright.wire import frames

Handler = Callable[[dict[str, Any]], object]

# The maximum number of characters of an error message.
_MESSAGE_LIMIT = 2000
# The maximum number of pending answers, and the maximum time in seconds that an answer may be pending while requests arrive.
MAX_PENDING = 32
MAX_PENDING_SECONDS = 0.05

logger = logging.getLogger(__name__)

# Without ASCII escapes, a lone surrogate fails here with an error answer, and not in the core as a breach of the protocol.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class Deferred(Protocol):
    """A handler's result whose answer can wait until later requests have been received."""

    def finish(self) -> object: ...


class Refused(Exception):
    """An error answer. Handlers may raise it to choose the code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotYet(Exception):
    """Signal of a handler that cannot begin yet and has done nothing. The conversation stores the request, and `retry` tries it again."""


class Conversation:
    """A conversation with one core, from its hello on."""

    def __init__(self, handlers: Mapping[str, Handler], last_id: int = 0) -> None:
        self._pending: list[tuple[int, Deferred]] = []
        self._pending_since = 0.0
        self._handlers = handlers
        self._last_id = last_id
        self._greeted = False
        self._stored: tuple[int, str, dict[str, Any]] | None = None

    @property
    def is_waiting(self) -> bool:
        """True if a stored request could not begin yet."""
        return self._stored is not None

    def receive(self, body: bytes) -> list[bytes]:
        """Return the answers to send now, in order; none if the answer to this request comes later."""
        return self._behind_pending(self._answer(body))

    def retry(self) -> list[bytes]:
        """Try the stored request again and return the answers to send now."""
        assert self._stored is not None
        request, self._stored = self._stored, None
        return self._behind_pending(self._answer_to(*request))

    def drop(self, code: str, message: str) -> list[bytes]:
        """Answer the stored request with an error, and return the answers to send now."""
        assert self._stored is not None
        request_id, self._stored = self._stored[0], None
        return self._behind_pending(error_answer(request_id, code, message))

    def must_answer_pending(self) -> bool:
        """Return True if pending answers must go out now. The sender has a deadline for each, so slow steps must not add up."""
        if not self._pending:
            return False
        return len(self._pending) >= MAX_PENDING or monotonic() - self._pending_since > MAX_PENDING_SECONDS

    @property
    def has_pending(self) -> bool:
        """True if answers are pending."""
        return bool(self._pending)

    def answer_pending(self) -> list[bytes]:
        """Finish the pending requests and return their answers."""
        pending, self._pending = self._pending, []
        # Finishing the first one finishes all, so their answers go out together.
        return [self._bytes(number, deferred.finish) for number, deferred in pending]

    def _behind_pending(self, answer: bytes | None) -> list[bytes]:
        if answer is None:
            return []
        return [*self.answer_pending(), answer]

    def _answer(self, body: bytes) -> bytes | None:
        """Return the answer to a request; None if it is pending and comes later."""
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
            self._stored = (request_id, method, params)
            return None
        if deferred:
            if not self._pending:
                self._pending_since = monotonic()
            self._pending.append((request_id, deferred[0]))
            return None
        return answer

    def _bytes(self, request_id: int, act: Callable[[], object], deferred: list[Deferred] | None = None) -> bytes:
        """Return the answer that `act` gives. A deferred result goes into the list `deferred` instead, if the caller passes one."""
        try:
            result = act()
            # `isinstance` with a protocol would take longer than encoding an answer.
            if deferred is not None and hasattr(result, "finish"):
                deferred.append(cast("Deferred", result))
                return b""
            answer = encoded({"id": request_id, "result": result})
        except Refused as refusal:
            return error_answer(request_id, refusal.code, str(refusal))
        except NotYet:
            raise
        except (Exception, SystemExit) as error:
            # A handler that fails, or that calls sys.exit, must not end the worker.
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
            raise Refused("handshake_done", "hello was already received")
        core_protocol = params.get("protocol")
        if type(core_protocol) is not int or core_protocol != frames.PROTOCOL:
            message = f"the core speaks protocol {core_protocol!r}, this worker speaks protocol {frames.PROTOCOL}"
            raise Refused("protocol_mismatch", message)
        about = cast("dict[str, object]", self._handlers["hello"](params))
        self._greeted = True
        return {"protocol": frames.PROTOCOL, **about}


def encoded(answer: dict[str, Any]) -> bytes:
    """Return the bytes of an answer. Raise ValueError or TypeError if it has no JSON form.

    pydantic encodes three times as fast as the standard library. The standard library handles answers that pydantic cannot encode safely.
    """
    try:
        raw = to_json(answer)
    except ValueError:
        return _encode(answer).encode()
    if b"NaN" in raw or b"Infinity" in raw:
        return _encode(answer).encode()
    return raw


def _parse(body: bytes) -> dict[str, Any]:
    """Return a request as a dictionary, or raise Refused."""
    try:
        request: object = from_json(body, allow_inf_nan=False)
    except ValueError:
        request = _parse_slowly(body)
    if not isinstance(request, dict):
        raise Refused("malformed_request", "the request is not a JSON object")
    return cast("dict[str, Any]", request)


def _parse_slowly(body: bytes) -> object:
    """Parse with the standard library, or raise Refused. It is three times slower than pydantic, but accepts deeper nesting."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused("malformed_request", f"the request is not JSON: {error}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _id_of(request: dict[str, Any]) -> int:
    request_id = request.get("id")
    # A bool is an instance of int, but not a valid id.
    if type(request_id) is not int or request_id < 1:
        raise Refused("malformed_request", "the request needs an id, an integer of at least 1")
    return request_id


def _method_of(request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    method, params = request.get("method"), request.get("params", {})
    if not isinstance(method, str):
        raise Refused("malformed_request", "the request needs a method, a string")
    if not isinstance(params, dict):
        raise Refused("malformed_request", "params must be an object")
    return method, cast("dict[str, Any]", params)


def error_answer(request_id: int | None, code: str, message: str) -> bytes:
    """Return the bytes of an error answer. The message becomes one line of at most `_MESSAGE_LIMIT` characters."""
    line = " ".join(message.split())[:_MESSAGE_LIMIT]
    # A message may quote names that are not valid UTF-8. An error answer must never fail.
    text = line.encode("utf-8", "replace").decode()
    return _encode({"id": request_id, "error": {"code": code, "message": text}}).encode()
