"""The whole web application of a console: the page, its session, what it reads and what it does, behind one guard."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from blendwright.console.bisections import Bisections
from blendwright.console.guard import ANOTHER_LINK, ENTRY, SESSION, PageGuard
from blendwright.console.live import Live
from blendwright.console.responses import answering, fields, in_thread, json_response, text
from blendwright.console.routes.actions import Acting
from blendwright.console.routes.views import Reading
from blendwright.console.sections import OpenBatches
from blendwright.console.sessions import Session, Sessions
from blendwright.console.workspaces import ConsoleWorkspace
from blendwright.web.origins import Names
from blendwright.wire.console_door import LINK, LINKS

PAGE = "index.html"
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    content: bytes
    media_type: str
    etag: str


def address_of(host: str, port: int) -> str:
    """Of the page of a console."""
    return f"http://{host}:{port}/"


def static_files() -> dict[str, StaticFile]:
    """The files of the page, by name; there are no others, whatever an address says."""
    found: dict[str, StaticFile] = {}
    for file in files(__package__ or "").joinpath("static").iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in TYPES:
            content = file.read_bytes()
            found[file.name] = StaticFile(content, TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


class Console:
    """One console: its workspaces and batches, its sessions, and the application that serves them."""

    def __init__(
        self,
        workspaces: Sequence[ConsoleWorkspace],
        batches: OpenBatches | None,
        host: str,
        port: int,
        *,
        read_only: bool = False,
        window_key: str | None = None,
    ) -> None:
        self.live = Live()
        self.sessions = Sessions(on_end=lambda session: self.live.end_streams(session.id))
        self._workspaces = {one.id: one for one in workspaces}
        self._batches = batches
        self._read_only = read_only
        self._files = static_files()
        # Cookies know no ports and no tabs: two of either would take each other's. The id of the session follows.
        self._cookie = f"blendwright-{port}-"
        self._address = address_of(host, port)
        self._bisections = Bisections(self.live)
        reading = Reading(self._workspaces, self._bisections, self.live)
        routes = [
            Route(ENTRY, answering(self._session), methods=["GET"]),
            Route(ENTRY, answering(self._enter), methods=["POST"]),
            Route(ENTRY, answering(self._leave), methods=["DELETE"]),
            Route(LINKS, answering(self._link), methods=["POST"]),
            *reading.routes(),
            *Acting(reading, self._bisections, self.live).routes(),
            *([] if batches is None else batches.routes(self.live)),
            Route("/{name:path}", self._file, methods=["GET"]),
        ]
        guarded = Starlette(routes=routes)
        self.application: ASGIApp = PageGuard(
            guarded, Names.of(host, port), self.sessions, self._cookie, read_only=read_only, window_key=window_key
        )

    def new_link(self) -> str:
        """An address that opens the page once. What is behind the # is sent to no server, and stands in no log."""
        return f"{self._address}{LINK}{self.sessions.new_link()}"

    def close(self) -> None:
        """End what is held open for the workspaces. Waits for their Blenders."""
        self._bisections.close()
        for workspace in self._workspaces.values():
            workspace.close()
        if self._batches is not None:
            self._batches.close()

    async def _enter(self, request: Request) -> Response:
        session = self.sessions.enter(text(await fields(request), "link"))
        if session is None:
            message = "this link was used already, or is too old"
            return json_response({"error": {"code": "link_used", "message": message, "cure": ANOTHER_LINK}}, 401)
        # Told this once: whoever has the cookie alone is not told it again.
        answer = json_response({**await self._told(session), "key": session.key})
        answer.set_cookie(self._cookie + session.id, session.secret, path="/", httponly=True, samesite="strict")
        return answer

    async def _link(self, request: Request) -> Response:
        """Asked for by the window of this process: the guard knows its key."""
        return json_response({"link": self.new_link()})

    async def _session(self, request: Request) -> Response:
        return json_response(await self._told(request.scope[SESSION]))

    async def _leave(self, request: Request) -> Response:
        session: Session = request.scope[SESSION]
        self.sessions.leave(session)
        answer = json_response({})
        answer.delete_cookie(self._cookie + session.id, path="/", httponly=True, samesite="strict")
        return answer

    async def _told(self, session: Session) -> Mapping[str, object]:
        workspaces = [one.told for one in self._workspaces.values()]
        batches: Sequence[Mapping[str, str]]
        if self._batches is None:
            batches = ()
        else:
            batches = await in_thread(self._batches.listed)
        about = {"session": session.id, "read_only": self._read_only}
        return {**about, "workspaces": workspaces, "batches": batches}

    async def _file(self, request: Request) -> Response:
        found = self._files.get(request.path_params["name"] or PAGE)
        if found is None:
            return Response("there is nothing here", 404, media_type="text/plain")
        headers = {"etag": found.etag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, media_type=found.media_type, headers=headers)
