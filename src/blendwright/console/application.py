"""The web application of a console: the page, its sessions, and the routes that read and act, behind one guard."""

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
    """Return the address of a console's page."""
    return f"http://{host}:{port}/"


def static_files() -> dict[str, StaticFile]:
    """Return the files of the page by name. The console serves no other files."""
    static: dict[str, StaticFile] = {}
    for file in files(__package__ or "").joinpath("static").iterdir():
        suffix = file.name.rpartition(".")[2]
        if suffix in TYPES:
            content = file.read_bytes()
            static[file.name] = StaticFile(content, TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return static


class Console:
    """A console: its workspaces and batches, its sessions, and the application that serves them."""

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
        self._workspaces = {workspace.id: workspace for workspace in workspaces}
        self._batches = batches
        self._read_only = read_only
        self._files = static_files()
        # Browsers share cookies between ports and tabs. The port and the session's id make the name unique.
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
        ]
        if batches is not None:
            routes += batches.routes(self.live)
        routes.append(Route("/{name:path}", self._file, methods=["GET"]))
        guarded = Starlette(routes=routes)
        self.application: ASGIApp = PageGuard(
            guarded, Names.of(host, port), self.sessions, self._cookie, read_only=read_only, window_key=window_key
        )

    def new_link(self) -> str:
        """Return an address that opens the page once. Browsers do not send the part after #, so no log contains the secret."""
        return f"{self._address}{LINK}{self.sessions.new_link()}"

    def close(self) -> None:
        """Close everything that is open for the workspaces and batches. This waits for their Blenders."""
        self._bisections.close()
        for workspace in self._workspaces.values():
            workspace.close()
        if self._batches is not None:
            self._batches.close()

    async def _enter(self, request: Request) -> Response:
        session = self.sessions.enter(text(await fields(request), "link"))
        if session is None:
            message = "this link was already used or has expired"
            return json_response({"error": {"code": "link_used", "message": message, "cure": ANOTHER_LINK}}, 401)
        # Only this answer contains the key, so a client that has only the cookie cannot obtain it.
        answer = json_response({**await self._overview(session), "key": session.key})
        answer.set_cookie(self._cookie + session.id, session.secret, path="/", httponly=True, samesite="strict")
        return answer

    async def _link(self, request: Request) -> Response:
        """Return a new link to the Blender window of this process. The guard has checked the window's key."""
        return json_response({"link": self.new_link()})

    async def _session(self, request: Request) -> Response:
        return json_response(await self._overview(request.scope[SESSION]))

    async def _leave(self, request: Request) -> Response:
        session: Session = request.scope[SESSION]
        self.sessions.leave(session)
        answer = json_response({})
        answer.delete_cookie(self._cookie + session.id, path="/", httponly=True, samesite="strict")
        return answer

    async def _overview(self, session: Session) -> Mapping[str, object]:
        """Return what the page shows first: the session, the workspaces and the batches."""
        batches: Sequence[Mapping[str, str]] = ()
        if self._batches is not None:
            batches = await in_thread(self._batches.listed)
        return {
            "session": session.id,
            "read_only": self._read_only,
            "workspaces": [workspace.description for workspace in self._workspaces.values()],
            "batches": batches,
        }

    async def _file(self, request: Request) -> Response:
        file = self._files.get(request.path_params["name"] or PAGE)
        if file is None:
            return Response("not found", 404, media_type="text/plain")
        headers = {"etag": file.etag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)
