"""What every answer of the console has in common: JSON, errors as data with their cure, work in threads, and numbers from addresses."""

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
    """409 for what was refused, 423 where another process holds the workspace, 404 for what is not there, 500 for a broken promise."""
    if isinstance(error, Refusal):
        findings = [finding.to_json() for finding in error.findings]
    else:
        findings = []
    code, status = "failed", 500
    if isinstance(error, Refusal):
        fault = error.findings[0].fault
        code, status = RENDERINGS[fault].core, 404 if fault is Fault.TARGET_NOT_FOUND else 409
    elif isinstance(error, EnvironmentUnfit):
        code, status = ("in_use", 423) if "holder" in error.details else ("environment_unfit", 409)
    elif isinstance(error, RebuildFailed):
        code, status = "rebuild_failed", 409
    about = {"code": code, "message": error.message, "cure": error.cure, "findings": findings}
    return json_response({"error": about, "holder": error.details.get("holder")}, status)


def answering(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose errors become answers."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except BlendwrightError as error:
            return error_response(error)
        except (CancelledError, asyncio.CancelledError):
            return json_response(
                {"error": {"code": "dropped", "message": "others came first", "cure": "Ask again."}}, 503
            )
        except HTTPException:
            raise
        except Exception:
            # An outermost place: a page is never shown a stack trace.
            _log.exception("a request of the console failed")
            message = "this is a defect of the console; its log says more"
            return json_response({"error": {"code": "internal_error", "message": message, "cure": None}}, 500)

    return answer


async def in_thread(work: Callable[..., T], *args: Any, **options: Any) -> T:
    return await anyio.to_thread.run_sync(partial(work, *args, **options))


async def ended(future: Future[T]) -> T:
    """What work in another thread came to; whoever leaves meanwhile does not stop it."""
    return await asyncio.shield(asyncio.wrap_future(future))


def number(text: str | None, *, least: int = 0, most: int = LARGEST_NUMBER, otherwise: int | None = None) -> int:
    """A whole number of an address. Raises Refusal."""
    if text is None and otherwise is not None:
        return otherwise
    digits = text is not None and text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if text is None or not digits or not least <= int(text) <= most:
        raise Refusal.of(Fault.ARGS_INVALID, f"a number from {least} to {most} is needed", "Load the page again.")
    return int(text)


async def fields(request: Request) -> dict[str, Any]:
    """The body of an act: a JSON object. Raises Refusal."""
    found, findings = await in_thread(read_json, await request.body())
    if findings:
        raise Refusal(findings)
    if not isinstance(found, dict):
        raise Refusal.of(Fault.SCHEMA_INVALID, "an act is a JSON object")
    return cast("dict[str, Any]", found)


def text(values: dict[str, Any], name: str, most: int = 1000) -> str:
    """A text of the body of an act. Raises Refusal."""
    found = values.get(name)
    if not isinstance(found, str) or not 0 < len(found) <= most:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' is a text of up to {most} signs")
    return found
