"""Helpers for all endpoints of the console: JSON answers, errors as data with a fix, work in threads, and numbers in URLs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from functools import partial, wraps
from typing import Any, TypeVar, cast

import anyio.to_thread
import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from blendwright.schemas.json_reader import read_json
from blendwright.values.errors import BlendwrightError, EnvironmentUnfit, RebuildFailed, Refusal
from blendwright.values.faults import RENDERINGS, Fault

_log = logging.getLogger(__name__)

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]
LARGEST_NUMBER = 2**53


def json_response(data: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(data), status, media_type="application/json")


def error_response(error: BlendwrightError) -> Response:
    """Return the answer for an error.

    Its status is 404 for a missing target, 409 for other refusals, 423 if another process holds the workspace, and 500 otherwise."""
    findings: list[dict[str, Any]] = []
    code, status = "failed", 500
    if isinstance(error, Refusal):
        findings = [finding.to_json() for finding in error.findings]
        fault = error.findings[0].fault
        code, status = RENDERINGS[fault].core, 409
        if fault is Fault.TARGET_NOT_FOUND:
            status = 404
    elif isinstance(error, EnvironmentUnfit):
        code, status = "environment_unfit", 409
        if "holder" in error.details:
            code, status = "in_use", 423
    elif isinstance(error, RebuildFailed):
        code, status = "rebuild_failed", 409
    document = {"code": code, "message": error.message, "cure": error.cure, "findings": findings}
    return json_response({"error": document, "holder": error.details.get("holder")}, status)


def answering(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint that answers with an error document instead of raising."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except BlendwrightError as error:
            return error_response(error)
        except (CancelledError, asyncio.CancelledError):
            dropped = {
                "code": "dropped",
                "message": "the console dropped this request for newer ones",
                "cure": "Try again.",
            }
            return json_response({"error": dropped}, 503)
        except HTTPException:
            raise
        except Exception:
            # The outermost handler: the page must never show a stack trace.
            _log.exception("a request of the console failed")
            message = "this is a defect of the console; its log contains the details"
            return json_response({"error": {"code": "internal_error", "message": message, "cure": None}}, 500)

    return answer


async def in_thread(work: Callable[..., T], *args: Any, **options: Any) -> T:
    """Run a function in a thread and return its result."""
    return await anyio.to_thread.run_sync(partial(work, *args, **options))


async def ended(future: Future[T]) -> T:
    """Return the result of work in another thread. The work continues if the client disconnects."""
    return await asyncio.shield(asyncio.wrap_future(future))


def number(text: str | None, *, least: int = 0, most: int = LARGEST_NUMBER, otherwise: int | None = None) -> int:
    """Return a whole number from a URL, or `otherwise` if it is missing. Raise Refusal unless it is from `least` to `most`."""
    if text is None and otherwise is not None:
        return otherwise
    if text is not None and text.isascii() and text.isdigit() and len(text) <= len(str(most)):
        value = int(text)
        if least <= value <= most:
            return value
    message = f"the address must contain a number from {least} to {most}"
    raise Refusal.of(Fault.ARGS_INVALID, message, "Load the page again.")


async def fields(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of an action. Raise Refusal if the body is something else."""
    body, findings = await in_thread(read_json, await request.body())
    if findings:
        raise Refusal(findings)
    if not isinstance(body, dict):
        raise Refusal.of(Fault.SCHEMA_INVALID, "the body of an action must be a JSON object")
    return cast("dict[str, Any]", body)


def text(values: dict[str, Any], name: str, most: int = 1000) -> str:
    """Return a string field of an action's body. Raise Refusal if it is missing, empty or longer than `most` characters."""
    value = values.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= most:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' must be a string of 1 to {most} characters")
    return value
