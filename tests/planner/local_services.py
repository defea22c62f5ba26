"""Anthropic's and OpenAI's protocols on loopback: what was received is kept, and wrong requests are refused as the services do."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

KEY = "canary-key-0123456789"


class LocalService:
    """Answers in order: a text is an answer, a number an error status, a dictionary fields of the answer besides the text.

    Bytes are sent as they are with status 200: as a web page when they look like one, else as JSON.
    """

    def __init__(self, *answers: str | bytes | int | dict[str, Any]) -> None:
        self.answers = list(answers)
        self.received: list[dict[str, Any]] = []
        self.http = _Http(("127.0.0.1", 0), _Handler)
        self.http.service = self
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"


@contextlib.contextmanager
def local_service(*answers: str | bytes | int | dict[str, Any]) -> Generator[LocalService]:
    service = LocalService(*answers)
    threading.Thread(target=service.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield service
    finally:
        service.closing.set()
        service.http.shutdown()
        service.http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    service: LocalService

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone away is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read what was received, not a log."""

    def do_POST(self) -> None:
        service = cast("_Http", self.server).service
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        anthropic = self.path == "/v1/messages"
        service.received.append(body | {"path": self.path})
        # Anthropic takes the key in either header; its SDK has used both.
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        if given != KEY:
            self._send(401, _error(anthropic, f"the key {given} is wrong"))
            return
        answer = service.answers.pop(0)
        if answer == "silence":
            service.closing.wait(60)
            self.close_connection = True
        elif isinstance(answer, int):
            headers = {"retry-after": "3"} if answer == 429 else {}
            self._send(answer, _error(anthropic, f"no, with {given}"), headers)
        elif isinstance(answer, bytes):
            self._send_body(200, answer, {"content-type": "text/html"} if answer.startswith(b"<") else {})
        else:
            said = {"text": answer} if isinstance(answer, str) else answer
            self._send(200, _message(said) if anthropic else _completion(said))

    def _send(self, code: int, document: Any, headers: dict[str, str] | None = None) -> None:
        self._send_body(code, json.dumps(document).encode(), headers or {})

    def _send_body(self, code: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(body)),
            **headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _error(anthropic: bool, message: str) -> dict[str, Any]:
    error = {"type": "error_of_some_kind", "message": message}
    return {"type": "error", "error": error} if anthropic else {"error": error}


def _message(said: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": said["text"]}] if "text" in said else [],
        "stop_reason": said.get("finish", "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 7},
    }


def _completion(said: dict[str, Any]) -> dict[str, Any]:
    finish = {"max_tokens": "length", "refusal": "content_filter"}.get(said.get("finish", ""), "stop")
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": said.get("text")}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
