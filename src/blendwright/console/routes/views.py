"""The read-only routes of the page: history, scenes, pictures, approvals, runs and proofs of a workspace."""

from __future__ import annotations

import base64
import re
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from blendwright.approvals.pending import pending_approvals
from blendwright.console.bisections import Bisections
from blendwright.console.guard import SESSION
from blendwright.console.live import Live
from blendwright.console.picture_cache import NOTHING
from blendwright.console.plans import asked_in, run_details, run_summary
from blendwright.console.responses import answering, ended, in_thread, json_response, number
from blendwright.console.workspaces import ConsoleWorkspace
from blendwright.history.blame import Blamed, blame_all
from blendwright.history.merge import plan_merge
from blendwright.policy.redaction import redacted
from blendwright.proofs.audit_summary import verify_workspace
from blendwright.proofs.bundles import write_bundle
from blendwright.records.requests import StoredApproval
from blendwright.util.invisible_text import escape_invisible
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views import queries, timeline
from blendwright.views.scene_views import PicturePair, SceneViews
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.preview import preview
from blendwright.workspace.run_records import run_records

# Widths of pictures in pixels.
SMALL, LARGE = 320, 960
# Limits of one answer: commits, and changes in each list of a comparison.
MAX_COMMITS = 200
MAX_CHANGES = 300
# For answers about a commit, whose scene never changes.
UNCHANGING = {"cache-control": "private, max-age=31536000, immutable"}
APPROVAL_FIELDS = (
    "id", "tool", "request_id", "operation_id", "operation_hash", "safety_level", "what", "why", "expires", "shown", "in_person",
)  # fmt: skip


class Reading:
    """The reading endpoints, for all workspaces."""

    def __init__(self, workspaces: dict[str, ConsoleWorkspace], bisections: Bisections, live: Live) -> None:
        self._workspaces = workspaces
        self._bisections = bisections
        self._live = live

    def routes(self) -> list[Route]:
        endpoints = {
            "": self.overview,
            "/commits": self.commits,
            "/commits/{number}": self.commit,
            "/pictures/{number}": self.picture,
            "/compare/{before}/{after}": self.compare,
            "/compare/{before}/{after}/pictures": self.compare_pictures,
            "/scenes/{number}/glb": self.glb,
            "/scenes/{number}/blend": self.blend,
            "/scenes/{number}/objects": self.objects,
            "/scenes/{number}/audit": self.audit,
            "/approvals": self.approvals,
            "/approvals/{id}/preview": self.approval_preview,
            "/merge": self.merge_plan,
            "/bisect": self.bisection,
            "/runs": self.runs,
            "/runs/{id}": self.run,
            "/proof": self.proof,
            "/proof/bundle": self.bundle,
            "/events": self.events,
        }
        return [
            Route(f"/api/workspaces/{{workspace}}{path}", answering(endpoint), methods=["GET"])
            for path, endpoint in endpoints.items()
        ]

    def workspace(self, request: Request) -> ConsoleWorkspace:
        """Return the workspace that the URL names. Raise Refusal if there is none."""
        workspace = self._workspaces.get(request.path_params["workspace"])
        if workspace is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, "this console has no such workspace", "Choose another workspace.")
        return workspace

    def add(self, workspace: ConsoleWorkspace) -> ConsoleWorkspace:
        """Add a workspace to the console and return it. A workspace that the console already shows stays as it is."""
        return self._workspaces.setdefault(workspace.id, workspace)

    async def _scenes(self, request: Request, *names: str) -> tuple[ConsoleWorkspace, list[int]]:
        """Return the workspace and commits that the URL names. Raise Refusal for a missing commit, before a Blender starts."""
        workspace, numbers = self.workspace(request), [number(request.path_params[name]) for name in names]
        for n in numbers:
            await in_thread(queries.commit_details, workspace.directory, str(n))
        return workspace, numbers

    async def overview(self, request: Request) -> Response:
        return json_response(await in_thread(timeline.workspace_overview, self.workspace(request).directory))

    async def commits(self, request: Request) -> Response:
        query = request.query_params
        page = await in_thread(
            timeline.timeline,
            self.workspace(request).directory,
            offset=number(query.get("offset"), otherwise=0),
            limit=number(query.get("limit"), least=1, most=MAX_COMMITS, otherwise=50),
            all_lines=query.get("all") == "1",
            request=query.get("request"),
        )
        return json_response(page.to_json())

    async def commit(self, request: Request) -> Response:
        n = number(request.path_params["number"])
        return json_response(await in_thread(timeline.commit_page, self.workspace(request).directory, n))

    async def picture(self, request: Request) -> Response:
        """Return the picture of a commit, or status 202 while a Blender renders it. The page then receives an event when it is ready."""
        workspace, n = self.workspace(request), number(request.path_params["number"])
        width = SMALL
        if request.query_params.get("size") == "large":
            width = LARGE
        commit = await in_thread(queries.commit_details, workspace.directory, str(n))
        kind, scene = f"own-{width}", commit["hash_after"]
        cached_picture = await in_thread(workspace.pictures.read, kind, scene)
        if cached_picture is None:

            def make(views: SceneViews) -> None:
                if workspace.pictures.read(kind, scene) is None:
                    workspace.pictures.write(kind, scene, views.picture(n, width))
                self._live.tell(workspace.id, "picture", {"number": n, "hash": scene, "width": width})

            workspace.reader.submit(f"{kind}:{scene}", make)
            return Response(status_code=202)
        if cached_picture == NOTHING:
            return Response(status_code=204, headers=UNCHANGING)
        return Response(cached_picture, media_type="image/webp", headers=UNCHANGING)

    async def compare(self, request: Request) -> Response:
        workspace, (before, after) = await self._scenes(request, "before", "after")
        key = f"difference:{before}:{after}"
        work = workspace.reader.submit(key, lambda views: views.difference(before, after), urgent=True)
        difference = await ended(work)
        document: dict[str, Any] = {"before": before, "after": after, "unseen": difference.unseen}
        totals: dict[str, int] = {}
        for name, value in difference.to_json().items():
            if name != "unseen":
                changes: list[Any] = list(value)
                totals[name] = len(changes)
                document[name] = changes[:MAX_CHANGES]
        return json_response({**document, "totals": totals})

    async def compare_pictures(self, request: Request) -> Response:
        workspace, (before, after) = await self._scenes(request, "before", "after")

        def look(views: SceneViews) -> PicturePair | None:
            scenes = f"{views.commit(before).hash_after} {views.commit(after).hash_after}"
            cached_before = workspace.pictures.read("pair-before", scenes)
            cached_after = workspace.pictures.read("pair-after", scenes)
            if cached_before and cached_after:
                return PicturePair(cached_before, cached_after)
            pair = views.picture_pair(before, after, LARGE)
            if pair is not None:
                workspace.pictures.write("pair-before", scenes, pair.before)
                workspace.pictures.write("pair-after", scenes, pair.after)
            return pair

        pair = await ended(workspace.reader.submit(f"pair:{before}:{after}", look, urgent=True))
        if pair is None:
            return json_response({"before": None, "after": None})
        return json_response({name: base64.b64encode(data).decode() for name, data in asdict(pair).items()})

    async def glb(self, request: Request) -> Response:
        workspace, (n,) = await self._scenes(request, "number")
        data = await ended(workspace.reader.submit(f"glb:{n}", lambda views: views.glb(n), urgent=True))
        if data is None:
            return Response(status_code=204)
        headers = {**UNCHANGING, **_download(request, workspace, n, "glb")}
        return Response(data, media_type="model/gltf-binary", headers=headers)

    async def blend(self, request: Request) -> Response:
        workspace, (n,) = await self._scenes(request, "number")
        data = await ended(workspace.reader.submit(f"blend:{n}", lambda views: views.blend(n), urgent=True))
        headers = _download(request, workspace, n, "blend")
        return Response(data, media_type="application/octet-stream", headers=headers)

    async def objects(self, request: Request) -> Response:
        workspace, (n,) = await self._scenes(request, "number")
        objects = await ended(workspace.reader.submit(f"objects:{n}", lambda views: views.objects(n), urgent=True))
        blamed = await in_thread(blame_all, workspace.directory, at=n)
        lines = {line.name: line for line in blamed.lines}
        for entry in objects:
            line = lines.get(entry["name"])
            if line is None:
                entry["blame"] = None
            else:
                entry["blame"] = {"first": _blamed(line.first), "last": _blamed(line.last)}
        return json_response({"number": n, "origin": blamed.origin, "objects": objects})

    async def audit(self, request: Request) -> Response:
        workspace, (n,) = await self._scenes(request, "number")
        audit = await ended(workspace.reader.submit(f"audit:{n}", lambda views: views.audit(n), urgent=True))
        return json_response({"number": n, **audit})

    async def approvals(self, request: Request) -> Response:
        pending = await in_thread(pending_approvals, self.workspace(request).directory)
        return json_response({"approvals": [approval_document(stored) for stored in pending]})

    async def approval_preview(self, request: Request) -> Response:
        """Run the plan that waits for an approval on a copy, and return its effects. A single call has no preview."""
        workspace = self.workspace(request)
        return json_response(await in_thread(_preview, workspace.directory, request.path_params["id"]))

    async def merge_plan(self, request: Request) -> Response:
        """Return the effects and conflicts of a merge, without a Blender."""
        query = request.query_params
        source, into = query.get("source", ""), query.get("into", "HEAD")
        return json_response(await in_thread(_merge_plan, self.workspace(request).directory, source, into))

    async def bisection(self, request: Request) -> Response:
        return json_response(self._bisections.last_search(self.workspace(request)))

    async def runs(self, request: Request) -> Response:
        directory = self.workspace(request).directory
        summaries = await in_thread(lambda: [run_summary(directory, record) for record in run_records(directory)])
        return json_response({"runs": summaries})

    async def run(self, request: Request) -> Response:
        directory = self.workspace(request).directory
        return json_response(await in_thread(run_details, directory, request.path_params["id"]))

    async def proof(self, request: Request) -> Response:
        return json_response(await in_thread(verify_workspace, self.workspace(request).directory))

    async def bundle(self, request: Request) -> Response:
        """Return a proof bundle, signed with the existing key of the user who runs the console."""
        data = await in_thread(_bundle, self.workspace(request).directory)
        return Response(data, media_type="application/octet-stream")

    async def events(self, request: Request) -> Response:
        events = self._live.listen(self.workspace(request), request.scope[SESSION].id)
        return StreamingResponse(events, media_type="text/event-stream")


def approval_document(stored: StoredApproval) -> dict[str, Any]:
    """Return an approval with everything that a person must see before the answer. It escapes invisible characters."""
    request = asdict(stored.request)
    document = {name: request[name] for name in APPROVAL_FIELDS}
    for name in ("what", "shown", "operation_id", "request_id"):
        document[name] = escape_invisible(document[name])
    return {**document, "state": stored.state, "given_by": stored.given_by}


def _merge_plan(directory: Path, source: str, into: str) -> dict[str, Any]:
    plan = plan_merge(directory, source, into)
    taken = [
        {
            "commit": commit.number,
            "tool": commit.tool,
            "operation": commit.operation_id,
            "request": commit.request_id,
        }
        for commit in plan.taken[:MAX_CHANGES]
    ]
    return {
        **plan.to_json(),
        "into": into,
        "taken": taken,
        "total": len(plan.taken),
        "findings": [finding.to_json() for finding in plan.findings()],
    }


def _preview(directory: Path, id: str) -> dict[str, Any]:
    pending = (stored.request for stored in pending_approvals(directory))
    request = next((request for request in pending if request.id == id), None)
    if request is None:
        message = f"approval {id} is no longer pending"
        raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Load the list of approvals again.")
    documents = (record.document for record in run_records(directory) if asked_in(record, request))
    document = next((document for document in documents if document is not None), None)
    if document is None:
        return {"available": False}

    picture: str | None = None
    with tempfile.TemporaryDirectory() as temporary:
        image = Path(temporary) / "preview.png"
        result = preview(document, directory, image=image)
        if image.is_file():
            picture = base64.b64encode(image.read_bytes()).decode()
    hidden = load_policy(directory).policy.audit.redact
    preview_document = result.to_json()
    return {
        "available": True,
        "ok": result.report.ok,
        "picture": picture,
        "totals": preview_document["report"]["totals"],
        **redacted(preview_document["result"], hidden),
    }


def _blamed(entry: Blamed) -> dict[str, Any]:
    author = entry.who
    return {
        "commit": entry.commit.number,
        "tool": entry.commit.tool,
        "request": entry.commit.request_id,
        "change": entry.change,
        "by": author.by,
        "name": author.model or author.host or "",
        "asked": author.asked,
    }


def _bundle(directory: Path) -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        return write_bundle(directory, Path(temporary) / "proof").file.read_bytes()


def _download(request: Request, workspace: ConsoleWorkspace, n: int, suffix: str) -> dict[str, str]:
    """Return the header that makes the browser save an answer, if the page asks for it. The file name has only safe characters."""
    if request.query_params.get("download") != "1":
        return {}
    name = re.sub(r"[^A-Za-z0-9_-]", "", workspace.name) or "scene"
    return {"content-disposition": f'attachment; filename="{name}-{n}.{suffix}"'}
