"""The server itself: threads on loopback, one scenario, everything received kept. Ends with its context."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Generator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from support.hosts.gemini.received import Received
from support.hosts.gemini.replies import answer_document, error_document, stream_of
from support.hosts.gemini.scenario import Scenario, TurnScript

ROUTE = re.compile(r"/v1[a-z0-9]*/models/[A-Za-z0-9._-]+:(generateContent|streamGenerateContent|countTokens)(\?.*)?")


class GeminiServer:
    """`received` has every question, `problems` whatever the service or the scenario did not expect."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.received: list[Received] = []
        self.problems: list[str] = []
        self.closing = threading.Event()
        self.asked = threading.Event()
        """Somebody has asked something."""
        self._left = list(scenario.turns)
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.gemini = self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def turns_left(self) -> int:
        return sum(not turn.repeat for turn in self._left)

    def turn_for(self, request: Received) -> TurnScript | None:
        """The next turn whose word the request has, with what was not expected about the request noted."""
        with self._lock:
            self.received.append(request)
            self.asked.set()
            said = json.dumps(request.body)
            turn = next((turn for turn in self._left if turn.when is None or turn.when in said), None)
            expect: Mapping[str, Any] = {} if turn is None else turn.expect
            self.problems += request.problems(expect, self.scenario.canaries)
            if turn is None:
                self.problems.append("a question that the scenario does not have")
            elif not turn.repeat:
                self._left.remove(turn)
            return turn

    def start(self) -> None:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()


@contextlib.contextmanager
def serving(
    *answers: Mapping[str, Any] | Scenario, strict: bool = True, canaries: tuple[str, ...] = ()
) -> Generator[GeminiServer]:
    """A server with these answers, or with one scenario. At the end nothing unexpected may have come, and every turn was asked for."""
    first = answers[0] if answers else None
    plain = cast("tuple[Mapping[str, Any], ...]", answers)
    server = GeminiServer(first if isinstance(first, Scenario) else Scenario.of(*plain, canaries=canaries))
    server.start()
    try:
        yield server
    finally:
        server.close()
    if strict:
        assert server.problems == []
        assert server.turns_left == 0


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    gemini: GeminiServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read what was received, not a log."""

    def do_POST(self) -> None:
        gemini = cast("_Http", self.server).gemini
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        request = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        if not ROUTE.fullmatch(self.path):
            self._send(404, error_document(404, f"no such method: {self.path[:100]}"))
        elif "key=" in self.path:
            gemini.problems.append("the key is in the address")
            self._send(400, error_document(400, "keys belong into the header"))
        elif (key := request.headers.get("x-goog-api-key")) != gemini.scenario.key:
            said = "API key not valid. Please pass a valid API key."
            refused = error_document(400, said, reason="API_KEY_INVALID") if key else error_document(403, "no API key")
            self._send(refused["error"]["code"], refused)
        elif ":countTokens" in self.path:
            self._send(200, {"totalTokens": len(str(body)) // 4})
        else:
            self._play(gemini, request)

    def _play(self, gemini: GeminiServer, request: Received) -> None:
        known = len(gemini.problems)
        turn = gemini.turn_for(request)
        if turn is None or len(gemini.problems) > known:
            self._send(400, error_document(400, f"Invalid request: {gemini.problems[-1]}"))
            return
        answer = dict(turn.answer)
        if "call" in answer:
            answer["call"] = answer["call"] | {"name": request.tool_named(answer["call"]["name"])}
        if "error" in answer:
            self._send_error(answer["error"])
        elif "silence" in answer:
            gemini.closing.wait(60)
            self.close_connection = True
        elif "page" in answer:
            self._send_bytes(200, "text/html", answer["page"].encode())
        else:
            document = answer_document(answer, request.schema, request.prompt, request.model)
            if "torn" in answer:
                self._tear(json.dumps(document).encode())
            elif request.stream:
                self._stream(stream_of(document))
            else:
                self._send(200, document)

    def _send_error(self, error: Mapping[str, Any]) -> None:
        code = error["status"]
        document = error_document(
            code, error.get("message", "not now"), reason=error.get("reason"), retry_seconds=error.get("retry_delay")
        )
        self._send(code, document, error.get("headers", {}))

    def _send(self, code: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self._send_bytes(code, "application/json; charset=UTF-8", json.dumps(document).encode(), headers)

    def _send_bytes(self, code: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, pieces: list[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"data: " + json.dumps(piece).encode() + b"\r\n\r\n")
            self.wfile.flush()
        self.close_connection = True

    def _tear(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.close_connection = True
