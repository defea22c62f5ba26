"""What the page asks of a batch: how far it is, its cases by pages, and the files that they made. Nothing here changes anything.

Only files are served that the row of a case names, from the directory of that very case, and no link is followed on the way there. Of a
fleet they come from the storage that its place names, where this machine can read it.
"""

from __future__ import annotations

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

MOST_CASES = 100
MOST_FILES = 400
MOST_FINDINGS = 100
LONGEST_PARAMS = 400
# Storage may let everybody wait: whoever asks for something else still finds a thread.
MOST_OPENED_AT_ONCE = 8
# What a browser may show of a case; everything else is a file to be saved.
PICTURES = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
PLAIN = "application/octet-stream"
COLOR = "_color."
TOTAL = "total"


class BatchReading:
    """The endpoints, for all batches."""

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
        """The one that an address names. Raises Refusal."""
        found = self._batches.get(request.path_params["batch"])
        if found is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, "there is no such batch here", "Choose another one.")
        return found

    async def overview(self, request: Request) -> Response:
        return json_response(await in_thread(_overview, self.batch(request)))

    async def cases(self, request: Request) -> Response:
        batch, query = self.batch(request), request.query_params
        status: Any = query.get("status") or None
        if status is not None and status not in get_args(CaseStatus):
            raise Refusal.of(Fault.ARGS_INVALID, f"a status is one of {', '.join(get_args(CaseStatus))}")
        offset = number(query.get("offset"), otherwise=0)
        limit = number(query.get("limit"), least=1, most=MOST_CASES, otherwise=50)
        return json_response(await in_thread(_page, batch, offset, limit, status))

    async def case(self, request: Request) -> Response:
        n = number(request.path_params["number"])
        return json_response(await in_thread(_case, self.batch(request), n))

    async def file(self, request: Request) -> Response:
        n, name = number(request.path_params["number"]), request.path_params["name"]
        self._opening = self._opening or anyio.CapacityLimiter(MOST_OPENED_AT_ONCE)
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
        told = self._live.listen(self.batch(request), request.scope[SESSION].id)
        return StreamingResponse(told, media_type="text/event-stream")


def _overview(batch: ConsoleBatch) -> dict[str, Any]:
    with batch.open() as view:
        found = view.batch()
        if found is None:
            return {"program": None, "counts": asdict(Counts()), "pause": 0.0, "runs": batch.runs(), "failures": []}
        definition, begun = found
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
        found = view.batch()
        if found is None:
            return {"total": 0, "cases": []}
        total, cases = view.page(found[0].id, offset=offset, limit=limit, status=status)
    return {"total": total, "cases": [_summary(one, hidden, has_files=has_files) for one in cases]}


def _summary(standing: Standing, hidden: Sequence[str], *, has_files: bool) -> dict[str, Any]:
    """A case as a line of a list: texts are cut, so that a page of them stays small whatever the parameters are."""
    row = standing.row
    given: dict[str, Any] = redacted(dict(standing.case.params), hidden)
    params = ", ".join(f"{name} = {orjson.dumps(value).decode()}" for name, value in given.items())
    if row is not None and row.findings:
        finding = row.findings[0]
    else:
        finding = None
    return {
        "number": standing.case.number,
        "status": standing.status,
        "params": params[:LONGEST_PARAMS],
        "attempts": standing.attempts,
        "seconds": None if row is None else row.times.get(TOTAL),
        "finding": None if finding is None else str(finding.get("message", ""))[:LONGEST_PARAMS],
        "picture": picture_of(row) if row is not None and has_files else None,
    }


def picture_of(row: ResultRow) -> str | None:
    """The name of the file that shows a case: the first picture that stands by itself, or else what the camera saw in a folder of
    annotations, before its masks."""
    pictures = [name for name in row.outputs if PurePosixPath(name).suffix.lower() in PICTURES]
    return min(pictures, key=lambda name: (name.count("/"), COLOR not in name, pictures.index(name)), default=None)


def _case(batch: ConsoleBatch, n: int) -> dict[str, Any]:
    hidden = batch.hidden()
    standing = _standing(batch, n)
    case, row = standing.case, standing.row
    told: dict[str, Any] = {
        "number": case.number,
        "key": case.key,
        "source": case.source,
        "status": standing.status,
        "params": redacted(dict(case.params), hidden),
        "attempts": standing.attempts,
        "worker": standing.worker,
    }
    if row is None:
        return {**told, "row": None}
    files = [{"name": name, "sha256": of.get("sha256"), "bytes": of.get("bytes")} for name, of in row.outputs.items()]
    kept = ("scene_hash", "location", "times", "operations", "reused", "prefix", "finished", "memory_mb")
    about = {name: getattr(row, name) for name in kept}
    findings = [dict(one) for one in row.findings[:MOST_FINDINGS]]
    more = {"findings": findings, "files": files[:MOST_FILES], "total_files": len(files)}
    has_files = batch.has_files()
    pictures = {"has_files": has_files, "picture": picture_of(row) if has_files else None}
    return {**told, "row": {**about, **more, **pictures}}


def _standing(batch: ConsoleBatch, n: int) -> Standing:
    with batch.open() as view:
        found = view.standing(n)
    if found is None:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no case {n} in this batch", "Choose another one.")
    return found


def _open_output(batch: ConsoleBatch, n: int, name: str) -> tuple[BinaryIO, int]:
    """A file that the row of a case names. Raises Refusal, with the same words whatever is in the way."""
    row = _standing(batch, n).row
    # The directory may have been moved since: its name is what counts, and it is that of an attempt of this very case.
    attempt = PurePosixPath("" if row is None or row.location is None else row.location.replace("\\", "/")).name
    match = NAME.fullmatch(attempt)
    is_own = match is not None and int(match[1]) == n
    if row is not None and name in row.outputs and is_own and _stays_inside(name):
        try:
            return batch.open_file(attempt, name)
        except (OSError, ValueError):
            pass
    raise Refusal.of(Fault.TARGET_NOT_FOUND, f"case {n} has no such file", "It was removed, or never made.")


def _stays_inside(name: str) -> bool:
    """Whether a name of a file, put behind a directory, leads nowhere but into it: a row is not believed in this."""
    path = PurePath(name)
    return not path.is_absolute() and not path.anchor and ".." not in path.parts


def _chunks(opened: BinaryIO, size: int) -> Iterator[bytes]:
    """The file as long as it was when it was opened: it is promised so."""
    opened.seek(0)
    while size > 0 and (chunk := opened.read(min(CHUNK, size))):
        size -= len(chunk)
        yield chunk


def _file_name(n: int, name: str) -> str:
    """To save it under, without a sign that a header could be broken by."""
    last = PurePosixPath(name).name
    return f"{n:06d}-" + "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in last)
