"""What a person does on the page: moves of HEAD, tags, merges, answers to questions, plans run again. Each is bound to their session."""

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
    """The endpoints, for all workspaces."""

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
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        kind: Any = given.get("kind")
        if kind not in get_args(Move):
            raise Refusal.of(Fault.ARGS_INVALID, f"a move is one of {', '.join(get_args(Move))}")
        if kind == "checkout":
            to = _number(given, "to")
        else:
            to = None
        moved = await _act(workspace, lambda opened: person_acts.move(opened, person, kind, to))
        return json_response({"move": moved.kind, "from": moved.origin, "head": moved.commit.number})

    async def tag(self, request: Request) -> Response:
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        name, number = text(given, "name"), _number(given, "number")
        await _act(workspace, lambda opened: person_acts.tag(opened, person, name, number))
        return json_response({"name": name, "number": number})

    async def switch(self, request: Request) -> Response:
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        name, at = text(given, "name"), None if given.get("create_at") is None else _number(given, "create_at")
        moved = await _act(workspace, lambda opened: person_acts.switch(opened, person, name, at))
        return json_response({"branch": name, "from": moved.origin, "head": moved.commit.number})

    async def fork(self, request: Request) -> Response:
        """The new workspace is shown here too, from now on."""
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        name, number = text(given, "name"), _number(given, "number")
        blender = workspace.blender
        made = await _act(
            workspace, lambda opened: person_acts.fork_beside(opened, person, name, number, blender=blender)
        )
        added = self._reading.add(ConsoleWorkspace(made, blender=blender))
        return json_response({"workspace": added.told})

    async def merge(self, request: Request) -> Response:
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        source, into = text(given, "source"), text(given, "into")
        merged = await _act(workspace, lambda opened: person_acts.merge(opened, person, source, into))
        if merged.report is None:
            findings = []
        else:
            findings = [one.to_json() for one in merged.report.all_findings()]
        told = {"ok": merged.ok, "kind": merged.plan.kind, "head": merged.head, "taken": len(merged.taken)}
        return json_response({**told, "findings": findings})

    async def bisect(self, request: Request) -> Response:
        """Answered at once; which commits were looked at is told as it goes on."""
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        expect, good, bad = text(given, "expect", 4000), _commit_name(given, "good"), _commit_name(given, "bad")
        await in_thread(self._bisections.require_idle, workspace)
        await _act(workspace, lambda opened: person_acts.allow_bisect(opened, person, expect))
        return json_response(self._bisections.start(workspace, expect, good, bad or "HEAD"), 202)

    async def stop_bisect(self, request: Request) -> Response:
        self._bisections.stop(self._workspace(request))
        return json_response({})

    async def answer(self, request: Request) -> Response:
        """Answering needs no lock: what waits may wait in a process that has the workspace."""
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        said = text(given, "answer")
        if said not in ("approve", "decline"):
            raise Refusal.of(Fault.ARGS_INVALID, "an answer is approve or decline")
        stored = await in_thread(
            person_acts.answer,
            workspace.directory,
            person,
            request.path_params["id"],
            text(given, "operation_hash"),
            approved=said == "approve",
        )
        return json_response(approval_document(stored))

    async def run_again(self, request: Request) -> Response:
        """Answered at once; how far it is, is seen like any other run. What is wrong with it as a whole is told when it is met."""
        workspace, person, given = self._workspace(request), _person(request), await fields(request)
        record = await in_thread(run_record, workspace.directory, request.path_params["id"])
        if record is None or record.document is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, "that run cannot be run again from here", "Run its file again.")
        changes: Any = given.get("changes", {})
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
                # An outermost place: the thread ends with it.
                _log.exception("a run of the console failed")
                self._live.tell(workspace.id, "problem", {"message": "the run failed", "cure": "See the log."})

        threading.Thread(target=work, name="console-run", daemon=True).start()


async def _act(workspace: ConsoleWorkspace, work: Callable[[OpenScene], T]) -> T:
    return await in_thread(lambda: workspace.act(work))


def _person(request: Request) -> Person:
    return Person(request.scope[SESSION].id)


def _commit_name(given: Mapping[str, Any], name: str) -> str | None:
    """A commit by its number, a tag or a branch; None where none is given."""
    if given.get(name) in (None, ""):
        return None
    return text(dict(given), name, 100)


def _number(given: Mapping[str, Any], name: str) -> int:
    found = given.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise Refusal.of(Fault.ARGS_INVALID, f"'{name}' is the number of a commit")
    return found
