"""history_log, history_diff, history_checkout: what was done, what it changed, and going back to it."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from blendwright.app.open_scene import OpenScene
from blendwright.app.queries import commit_log, compare_commits
from blendwright.server.context import Caller, ServerContext
from blendwright.server.responses import ToolResponse, success
from blendwright.server.server_tool import server_tool
from blendwright.tool_api.arguments import Args

COMMIT = "Number of a commit, or HEAD."
SUMMARY_FIELDS = ("number", "parent", "kind", "request_id", "operation_id", "tool", "timestamp", "hash_after")


class LogArgs(Args):
    limit: int = Field(default=20, ge=1, le=500)
    before: str | None = Field(default=None, description="Only those before this commit: the next page.")


class DiffArgs(Args):
    a: str = Field(description=COMMIT)
    b: str = Field(default="HEAD", description=COMMIT)


class CheckoutArgs(Args):
    commit: str = Field(description=COMMIT)


@server_tool("The commits that led to the scene, newest first.", read_only=True)
async def history_log(context: ServerContext, caller: Caller, args: LogArgs) -> ToolResponse:
    page = await asyncio.to_thread(commit_log, context.workspace, limit=args.limit, before=args.before)
    return success(
        {
            "head": page.head,
            "redo": page.redo,
            "commits": [{name: getattr(commit, name) for name in SUMMARY_FIELDS} for commit in page.commits],
            "next_before": None if page.next_before is None else str(page.next_before),
        }
    )


@server_tool("What differs between the scenes of two commits, property by property.", read_only=True)
async def history_diff(context: ServerContext, caller: Caller, args: DiffArgs) -> ToolResponse:
    def work() -> dict[str, Any]:
        compared = compare_commits(context.workspace, args.a, args.b, blender=context.blender, cancel=caller.cancel)
        numbers = {"a": compared.before.number, "b": compared.after.number}
        return {**numbers, "equal": compared.difference.is_empty, **compared.difference.to_json()}

    return success(await context.run_aside(caller, work))


@server_tool(
    "Go to the scene of any commit. Nothing is lost: all commits stay, so this can be taken back the same way."
)
async def history_checkout(context: ServerContext, caller: Caller, args: CheckoutArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        moved = opened.checkout(args.commit, caller.options)
        return {"from": moved.origin, "head": moved.commit.number, "scene_hash": moved.commit.hash_after}

    return success(await context.run(caller, work))


TOOLS = (history_log, history_diff, history_checkout)
