"""The read-only routes of a batch for the page: its progress, pages of its cases, and the output files of the cases.

The routes serve only files that the row of a case names, from the directory of that case, and follow no symbolic link. The files of a
fleet's batch come from its shared storage if this machine can read it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO, get_args

import anyio
import anyio.to_thread
import orjson
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from blendwright.batch.console.batches import ConsoleBatch
from blendwright.batch.outputs.store import NAME
from blendwright.batch.results.table import CaseStatus, Counts, ResultRow, Standing
from blendwright.console.guard import SESSION
from blendwright.console.live import Live
from blendwright.console.responses import answering, in_thread, json_response, number
from blendwright.policy.redaction import redacted
from blendwright.util.no_follow import CHUNK
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

# Limits of one answer: cases, files and findings.
MAX_CASES = 100
MAX_FILES = 400
MAX_FINDINGS = 100
# Longer texts are cut to this number of characters.
MAX_TEXT_CHARACTERS = 400
# Slow storage must not use up all threads, because other requests need them too.
MAX_PARALLEL_OPENINGS = 8
# Files that a browser may display, by suffix. It saves every other file.
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
PLAIN = "application/octet-stream"
COLOR = "_color."
TOTAL = "total"


class BatchReading:
    """The endpoints for all batches of a console."""

    def __init__(self, batches: Mapping[str, ConsoleBatch], live: Live) -> None:
        self._batches = batches
        self._live = live
        self._opening: anyio.CapacityLimiter | None = None

    def routes(self) -> list[Route]:
        endpoints = {
            "": self.overview,
            "/cases": self.cases,
            "/cases/{number}": self.case,
            "/cases/{number}/files/{name:path}": self.file,
            "/events": self.events,
        }
        return [
            Route(f"/api/batches/{{batch}}{path}", answering(endpoint), methods=["GET"])
            for path, endpoint in endpoints.items()
        ]

    def batch(self, request: Request) -> ConsoleBatch:
        """Return the batch that the request's URL names. Raise Refusal if there is none."""
        batch = self._batches.get(request.path_params["batch"])
        if batch is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, "this console has no such batch", "Choose another batch.")
        return batch

    async def overview(self, request: Request) -> Response:
        return json_response(await in_thread(_overview, self.batch(request)))

    async def cases(self, request: Request) -> Response:
        batch, query = self.batch(request), request.query_params
        status: Any = query.get("status") or None
        if status is not None and status not in get_args(CaseStatus):
            statuses = ", ".join(get_args(CaseStatus))
            raise Refusal.of(Fault.ARGS_INVALID, f"status must be one of {statuses}")
        offset = number(query.get("offset"), otherwise=0)
        limit = number(query.get("limit"), least=1, most=MAX_CASES, otherwise=50)
        return json_response(await in_thread(_page, batch, offset, limit, status))

    async def case(self, request: Request) -> Response:
        n = number(request.path_params["number"])
        return json_response(await in_thread(_case, self.batch(request), n))

    async def file(self, request: Request) -> Response:
        n, name = number(request.path_params["number"]), request.path_params["name"]
        self._opening = self._opening or anyio.CapacityLimiter(MAX_PARALLEL_OPENINGS)
        opening = partial(_open_output, self.batch(request), n, name)
        opened, size = await anyio.to_thread.run_sync(opening, limiter=self._opening)
        media_type = PICTURES.get(PurePosixPath(name).suffix.lower())
        headers = {"content-length": str(size), "cache-control": "private, no-cache"}
        if media_type is None:
            headers["content-disposition"] = f'attachment; filename="{_file_name(n, name)}"'
        return StreamingResponse(
            _chunks(opened, size),
            media_type=media_type or PLAIN,
            headers=headers,
            background=BackgroundTask(opened.close),
        )

    async def events(self, request: Request) -> Response:
        events = self._live.listen(self.batch(request), request.scope[SESSION].id)
        return StreamingResponse(events, media_type="text/event-stream")


def _overview(batch: ConsoleBatch) -> dict[str, Any]:
    with batch.open() as view:
        latest = view.batch()
        if latest is None:
            return {"program": None, "counts": asdict(Counts()), "pause": 0.0, "runs": batch.runs(), "failures": []}
        definition, begun = latest
        return {
            "program": definition.source.name,
            "outputs": [output.name for output in definition.outputs],
            "blender": definition.blender_version,
            "keep": definition.keep,
            "begun": begun,
            "counts": asdict(view.counts(definition.id)),
            "pause": view.pause,
            "runs": batch.runs(),
            "failures": [asdict(reason) for reason in view.failure_reasons(definition.id)],
        }


def _page(batch: ConsoleBatch, offset: int, limit: int, status: CaseStatus | None) -> dict[str, Any]:
    hidden, has_files = batch.hidden(), batch.has_files()
    with batch.open() as view:
        latest = view.batch()
        if latest is None:
            return {"total": 0, "cases": []}
        total, cases = view.page(latest[0].id, offset=offset, limit=limit, status=status)
    return {"total": total, "cases": [_summary(standing, hidden, has_files=has_files) for standing in cases]}


def _summary(standing: Standing, hidden: Sequence[str], *, has_files: bool) -> dict[str, Any]:
    """Return a case as one line of a list. Long texts are cut, so a page of cases stays small."""
    row = standing.row
    shown_params: dict[str, Any] = redacted(dict(standing.case.params), hidden)
    params = ", ".join(f"{name} = {orjson.dumps(value).decode()}" for name, value in shown_params.items())
    seconds: float | None = None
    message: str | None = None
    picture: str | None = None
    if row is not None:
        seconds = row.times.get(TOTAL)
        if row.findings:
            message = str(row.findings[0].get("message", ""))[:MAX_TEXT_CHARACTERS]
        if has_files:
            picture = picture_of(row)
    return {
        "number": standing.case.number,
        "status": standing.status,
        "params": params[:MAX_TEXT_CHARACTERS],
        "attempts": standing.attempts,
        "seconds": seconds,
        "finding": message,
        "picture": picture,
    }


def picture_of(row: ResultRow) -> str | None:
    """Return the name of the picture that represents a case, or None.

    A picture at the top level comes first. In a folder of annotations, the camera's image comes before the masks."""
    pictures = [name for name in row.outputs if PurePosixPath(name).suffix.lower() in PICTURES]
    return min(pictures, key=lambda name: (name.count("/"), COLOR not in name, pictures.index(name)), default=None)


def _case(batch: ConsoleBatch, n: int) -> dict[str, Any]:
    hidden = batch.hidden()
    standing = _standing(batch, n)
    case, row = standing.case, standing.row
    document: dict[str, Any] = {
        "number": case.number,
        "key": case.key,
        "source": case.source,
        "status": standing.status,
        "params": redacted(dict(case.params), hidden),
        "attempts": standing.attempts,
        "worker": standing.worker,
    }
    if row is None:
        return {**document, "row": None}

    files = [
        {"name": name, "sha256": output.get("sha256"), "bytes": output.get("bytes")}
        for name, output in row.outputs.items()
    ]
    has_files = batch.has_files()
    picture: str | None = None
    if has_files:
        picture = picture_of(row)
    names = ("scene_hash", "location", "times", "operations", "reused", "prefix", "finished", "memory_mb")
    fields = {name: getattr(row, name) for name in names}
    fields |= {
        "findings": [dict(finding) for finding in row.findings[:MAX_FINDINGS]],
        "files": files[:MAX_FILES],
        "total_files": len(files),
        "has_files": has_files,
        "picture": picture,
    }
    return {**document, "row": fields}


def _standing(batch: ConsoleBatch, n: int) -> Standing:
    with batch.open() as view:
        standing = view.standing(n)
    if standing is None:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"this batch has no case {n}", "Choose another case.")
    return standing


def _open_output(batch: ConsoleBatch, n: int, name: str) -> tuple[BinaryIO, int]:
    """Open a file that the row of a case names, and return it with its size. Raise the same Refusal for every problem."""
    row = _standing(batch, n).row
    if row is not None and row.location is not None and name in row.outputs and _stays_inside(name):
        # The batch directory may have moved, so only the last part of the location counts. It must be an attempt of this case.
        attempt = PurePosixPath(row.location.replace("\\", "/")).name
        match = NAME.fullmatch(attempt)
        if match is not None and int(match[1]) == n:
            with contextlib.suppress(OSError, ValueError):
                return batch.open_file(attempt, name)
    raise Refusal.of(Fault.TARGET_NOT_FOUND, f"case {n} has no such file", "It was removed, or never made.")


def _stays_inside(name: str) -> bool:
    """Return whether a relative file name stays inside the directory that it is appended to. Rows may be manipulated."""
    path = PurePath(name)
    return not path.is_absolute() and not path.anchor and ".." not in path.parts


def _chunks(opened: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield exactly `size` bytes of a file, because the answer's header already promises this length."""
    opened.seek(0)
    while size > 0:
        chunk = opened.read(min(CHUNK, size))
        if not chunk:
            break
        size -= len(chunk)
        yield chunk


def _file_name(n: int, name: str) -> str:
    """Return a file name for downloads that contains only characters that are safe in a header."""
    safe_name = re.sub(r"[^A-Za-z0-9_.-]", "_", PurePosixPath(name).name)
    return f"{n:06d}-{safe_name}"
