"""What the page asks: history, scenes, pictures, approvals, runs and proofs of a workspace. Nothing here changes anything."""

from __future__ import annotations

import base64
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

SMALL, LARGE = 320, 960
MOST_COMMITS = 200
MOST_CHANGED = 300
# A picture of a scene stays the same; the address names the commit, whose scene stays the same too.
UNCHANGING = {"cache-control": "private, max-age=31536000, immutable"}
APPROVAL_FIELDS = (
    "id", "tool", "request_id", "operation_id", "operation_hash", "safety_level", "what", "why", "expires", "shown", "in_person",
)  # fmt: skip


class Reading:
    """The endpoints, for all workspaces."""

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
        """The one that an address names. Raises Refusal."""
        found = self._workspaces.get(request.path_params["workspace"])
        if found is None:
            raise Refusal.of(Fault.TARGET_NOT_FOUND, "there is no such workspace here", "Choose another one.")
        return found

    def add(self, workspace: ConsoleWorkspace) -> ConsoleWorkspace:
        """Show another one."""
        return self._workspaces.setdefault(workspace.id, workspace)

    async def _scenes(self, request: Request, *names: str) -> tuple[ConsoleWorkspace, list[int]]:
        """The workspace and the commits that an address names. Raises Refusal where one is not there: no Blender is started for it."""
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
            limit=number(query.get("limit"), least=1, most=MOST_COMMITS, otherwise=50),
            all_lines=query.get("all") == "1",
            request=query.get("request"),
        )
        return json_response(page.to_json())

    async def commit(self, request: Request) -> Response:
        n = number(request.path_params["number"])
        return json_response(await in_thread(timeline.commit_page, self.workspace(request).directory, n))

    async def picture(self, request: Request) -> Response:
        """202 while it is being made: the page hears when it is there, and keeps no connection waiting for it."""
        workspace, n = self.workspace(request), number(request.path_params["number"])
        if request.query_params.get("size") == "large":
            width = LARGE
        else:
            width = SMALL
        commit = await in_thread(queries.commit_details, workspace.directory, str(n))
        kind, scene = f"own-{width}", commit["hash_after"]
        found = await in_thread(workspace.pictures.read, kind, scene)
        if found is None:

            def make(views: SceneViews) -> None:
                if workspace.pictures.read(kind, scene) is None:
                    workspace.pictures.write(kind, scene, views.picture(n, width))
                self._live.tell(workspace.id, "picture", {"number": n, "hash": scene, "width": width})

            workspace.reader.submit(f"{kind}:{scene}", make)
            return Response(status_code=202)
        if found == NOTHING:
            return Response(status_code=204, headers=UNCHANGING)
        return Response(found, media_type="image/webp", headers=UNCHANGING)

    async def compare(self, request: Request) -> Response:
        workspace, (before, after) = await self._scenes(request, "before", "after")
        key = f"difference:{before}:{after}"
        found = await ended(workspace.reader.submit(key, lambda views: views.difference(before, after), urgent=True))
        lists: dict[str, list[Any]] = {name: list(value) for name, value in found.to_json().items() if name != "unseen"}
        totals = {name: len(value) for name, value in lists.items()}
        shown = {name: value[:MOST_CHANGED] for name, value in lists.items()}
        return json_response({"before": before, "after": after, "unseen": found.unseen, "totals": totals, **shown})

    async def compare_pictures(self, request: Request) -> Response:
        workspace, (before, after) = await self._scenes(request, "before", "after")

        def look(views: SceneViews) -> PicturePair | None:
            scenes = f"{views.commit(before).hash_after} {views.commit(after).hash_after}"
            kept = [workspace.pictures.read(f"pair-{side}", scenes) for side in ("before", "after")]
            if kept[0] and kept[1]:
                return PicturePair(kept[0], kept[1])
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
        found = await ended(workspace.reader.submit(f"objects:{n}", lambda views: views.objects(n), urgent=True))
        blamed = await in_thread(blame_all, workspace.directory, at=n)
        made = {line.name: line for line in blamed.lines}
        for one in found:
            line = made.get(one["name"])
            if line is None:
                one["blame"] = None
            else:
                one["blame"] = {"first": _blamed(line.first), "last": _blamed(line.last)}
        return json_response({"number": n, "origin": blamed.origin, "objects": found})

    async def audit(self, request: Request) -> Response:
        workspace, (n,) = await self._scenes(request, "number")
        found = await ended(workspace.reader.submit(f"audit:{n}", lambda views: views.audit(n), urgent=True))
        return json_response({"number": n, **found})

    async def approvals(self, request: Request) -> Response:
        waiting = await in_thread(pending_approvals, self.workspace(request).directory)
        return json_response({"approvals": [approval_document(one) for one in waiting]})

    async def approval_preview(self, request: Request) -> Response:
        """What the plan that asks would do, found out on a copy; a call that belongs to no plan has none."""
        workspace = self.workspace(request)
        return json_response(await in_thread(_preview, workspace.directory, request.path_params["id"]))

    async def merge_plan(self, request: Request) -> Response:
        """What a merge of one line into another would do, and what is in its way; no Blender is started for it."""
        query = request.query_params
        source, into = query.get("source", ""), query.get("into", "HEAD")
        return json_response(await in_thread(_merge_plan, self.workspace(request).directory, source, into))

    async def bisection(self, request: Request) -> Response:
        return json_response(self._bisections.told(self.workspace(request)))

    async def runs(self, request: Request) -> Response:
        directory = self.workspace(request).directory
        return json_response(
            {"runs": await in_thread(lambda: [run_summary(directory, one) for one in run_records(directory)])}
        )

    async def run(self, request: Request) -> Response:
        directory = self.workspace(request).directory
        return json_response(await in_thread(run_details, directory, request.path_params["id"]))

    async def proof(self, request: Request) -> Response:
        return json_response(await in_thread(verify_workspace, self.workspace(request).directory))

    async def bundle(self, request: Request) -> Response:
        """Signed with the key of whoever runs the console; none is made for it."""
        data = await in_thread(_bundle, self.workspace(request).directory)
        return Response(data, media_type="application/octet-stream")

    async def events(self, request: Request) -> Response:
        told = self._live.listen(self.workspace(request), request.scope[SESSION].id)
        return StreamingResponse(told, media_type="text/event-stream")


def approval_document(stored: StoredApproval) -> dict[str, Any]:
    """A question with everything that must be seen before the answer; what the eye does not see is shown as what it is."""
    request = asdict(stored.request)
    told = {name: request[name] for name in APPROVAL_FIELDS}
    for name in ("what", "shown", "operation_id", "request_id"):
        told[name] = escape_invisible(told[name])
    return {**told, "state": stored.state, "given_by": stored.given_by}


def _merge_plan(directory: Path, source: str, into: str) -> dict[str, Any]:
    plan = plan_merge(directory, source, into)
    taken = [
        {"commit": one.number, "tool": one.tool, "operation": one.operation_id, "request": one.request_id}
        for one in plan.taken[:MOST_CHANGED]
    ]
    told = {**plan.to_json(), "into": into, "taken": taken, "total": len(plan.taken)}
    return {**told, "findings": [one.to_json() for one in plan.findings()]}


def _preview(directory: Path, id: str) -> dict[str, Any]:
    asked = next((one.request for one in pending_approvals(directory) if one.request.id == id), None)
    if asked is None:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"nothing waits under {id} any more", "Look again what waits.")
    records = (one for one in run_records(directory) if asked_in(one, asked))
    document = next((one.document for one in records if one.document is not None), None)
    if document is None:
        return {"available": False}
    with tempfile.TemporaryDirectory() as temporary:
        image = Path(temporary) / "preview.png"
        found = preview(document, directory, image=image)
        if image.is_file():
            picture = base64.b64encode(image.read_bytes()).decode()
        else:
            picture = None
    hidden = load_policy(directory).policy.audit.redact
    told = found.to_json()
    totals = told["report"]["totals"]
    return {
        "available": True,
        "ok": found.report.ok,
        "picture": picture,
        "totals": totals,
        **redacted(told["result"], hidden),
    }


def _blamed(entry: Blamed) -> dict[str, Any]:
    who = entry.who
    told = {"commit": entry.commit.number, "tool": entry.commit.tool, "request": entry.commit.request_id}
    return {**told, "change": entry.change, "by": who.by, "name": who.model or who.host or "", "asked": who.asked}


def _bundle(directory: Path) -> bytes:
    with tempfile.TemporaryDirectory() as temporary:
        return write_bundle(directory, Path(temporary) / "proof").file.read_bytes()


def _download(request: Request, workspace: ConsoleWorkspace, n: int, suffix: str) -> dict[str, str]:
    """The header that makes a file of an answer, where the page wants one. Its name has no sign that a header could be broken by."""
    if request.query_params.get("download") != "1":
        return {}
    name = "".join(sign for sign in workspace.name if sign.isascii() and (sign.isalnum() or sign in "-_")) or "scene"
    return {"content-disposition": f'attachment; filename="{name}-{n}.{suffix}"'}
