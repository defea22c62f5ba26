"""The routes for a person's actions on the page: moves of HEAD, tags, merges, approvals, and plans that run again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from blendwright.console import actions as person_acts
from blendwright.console.actions import Move, Person
from blendwright.console.bisections import Bisections
from blendwright.console.guard import SESSION
from blendwright.console.live import Live
from blendwright.console.repairs import repaired
from blendwright.console.responses import answering, fields, in_thread, json_response, text
from blendwright.console.routes.views import Reading, approval_document
from blendwright.console.workspaces import ConsoleWorkspace
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.run_records import run_record

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Acting:
    """The endpoints of actions, for all workspaces. Each action belongs to the session of the person."""

    def __init__(self, reading: Reading, bisections: Bisections, live: Live) -> None:
        self._reading = reading
        self._bisections = bisections
        self._workspace = reading.workspace
        self._live = live

    def routes(self) -> list[Route]:
        endpoints = {
            "/move": self.move,
            "/tags": self.tag,
            "/branches": self.switch,
            "/forks": self.fork,
            "/merge": self.merge,
            "/bisect": self.bisect,
            "/bisect/stop": self.stop_bisect,
            "/approvals/{id}": self.answer,
            "/runs/{id}/again": self.run_again,
        }
        return [
            Route(f"/api/workspaces/{{workspace}}{path}", answering(endpoint), methods=["POST"])
            for path, endpoint in endpoints.items()
        ]

    async def move(self, request: Request) -> Response:
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        kind: Any = body.get("kind")
        if kind not in get_args(Move):
            raise Refusal.of(Fault.ARGS_INVALID, f"'kind' must be one of {', '.join(get_args(Move))}")
        target: int | None = None
        if kind == "checkout":
            target = _number(body, "to")
        moved = await _act(workspace, lambda opened: person_acts.move(opened, person, kind, target))
        return json_response({"move": moved.kind, "from": moved.origin, "head": moved.commit.number})

    async def tag(self, request: Request) -> Response:
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        name, number = text(body, "name"), _number(body, "number")
        await _act(workspace, lambda opened: person_acts.tag(opened, person, name, number))
        return json_response({"name": name, "number": number})

    async def switch(self, request: Request) -> Response:
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        name, create_at = text(body, "name"), None
        if body.get("create_at") is not None:
            create_at = _number(body, "create_at")
        moved = await _act(workspace, lambda opened: person_acts.switch(opened, person, name, create_at))
        return json_response({"branch": name, "from": moved.origin, "head": moved.commit.number})

    async def fork(self, request: Request) -> Response:
        """Create a workspace from a commit, and add it to this console."""
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        name, number = text(body, "name"), _number(body, "number")
        blender = workspace.blender
        directory = await _act(
            workspace, lambda opened: person_acts.fork_beside(opened, person, name, number, blender=blender)
        )
        added = self._reading.add(ConsoleWorkspace(directory, blender=blender))
        return json_response({"workspace": added.description})

    async def merge(self, request: Request) -> Response:
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        source, into = text(body, "source"), text(body, "into")
        merged = await _act(workspace, lambda opened: person_acts.merge(opened, person, source, into))
        findings: list[dict[str, Any]] = []
        if merged.report is not None:
            findings = [finding.to_json() for finding in merged.report.all_findings()]
        return json_response(
            {
                "ok": merged.ok,
                "kind": merged.plan.kind,
                "head": merged.head,
                "taken": len(merged.taken),
                "findings": findings,
            }
        )

    async def bisect(self, request: Request) -> Response:
        """Start a search and answer at once. The page receives its progress as events."""
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        expect, good, bad = text(body, "expect", 4000), _commit_name(body, "good"), _commit_name(body, "bad")
        await in_thread(self._bisections.require_idle, workspace)
        await _act(workspace, lambda opened: person_acts.allow_bisect(opened, person, expect))
        return json_response(self._bisections.start(workspace, expect, good, bad or "HEAD"), 202)

    async def stop_bisect(self, request: Request) -> Response:
        self._bisections.stop(self._workspace(request))
        return json_response({})

    async def answer(self, request: Request) -> Response:
        """Answer a pending approval. This needs no lock, because the process that waits may hold the workspace."""
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        decision = text(body, "answer")
        if decision not in ("approve", "decline"):
            raise Refusal.of(Fault.ARGS_INVALID, "'answer' must be approve or decline")
        stored = await in_thread(
            person_acts.answer,
            workspace.directory,
            person,
            request.path_params["id"],
            text(body, "operation_hash"),
            approved=decision == "approve",
        )
        return json_response(approval_document(stored))

    async def run_again(self, request: Request) -> Response:
        """Start a run of a stored plan and answer at once. The page shows its progress, and errors of the whole plan as an event."""
        workspace, person, body = self._workspace(request), _person(request), await fields(request)
        record = await in_thread(run_record, workspace.directory, request.path_params["id"])
        if record is None or record.document is None:
            message = "this run's plan is not stored, so the page cannot run it again"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Run its file again.")
        changes: Any = body.get("changes", {})
        document = repaired(record, changes)
        self._run(workspace, person, document, record.boundary)
        return json_response({"request": record.request_id}, 202)

    def _run(self, workspace: ConsoleWorkspace, person: Person, document: Mapping[str, Any], boundary: str) -> None:
        def work() -> None:
            try:
                workspace.act(lambda opened: person_acts.run_again(opened, person, document, boundary))
            except BlendwrightError as error:
                self._live.tell(workspace.id, "problem", {"message": error.message, "cure": error.cure})
            except Exception:
                # The outermost handler of this thread.
                _log.exception("a run of the console failed")
                self._live.tell(workspace.id, "problem", {"message": "the run failed", "cure": "See the log."})

        threading.Thread(target=work, name="console-run", daemon=True).start()


async def _act(workspace: ConsoleWorkspace, work: Callable[[OpenScene], T]) -> T:
    return await in_thread(lambda: workspace.act(work))


def _person(request: Request) -> Person:
    return Person(request.scope[SESSION].id)


def _commit_name(body: Mapping[str, Any], name: str) -> str | None:
    """Return a commit's number, tag or branch from the body, or None if it is missing."""
    if body.get(name) in (None, ""):
        return None
    return text(dict(body), name, 100)


def _number(body: Mapping[str, Any], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' must be the number of a commit")
    return value
