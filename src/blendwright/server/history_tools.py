"""history_log, history_diff, history_checkout: what was done, what it changed, and going back to it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from pydantic import Field

from blendwright.app.diffing import difference
from blendwright.app.open_scene import OpenScene
from blendwright.app.read_workspace import inspection_workers, read_journal
from blendwright.records.commits import Commit
from blendwright.run.history import find
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
    def work() -> dict[str, Any]:
        with read_journal(context.workspace) as journal:
            head = journal.head
            below = None if args.before is None else find(journal, args.before).number
            commits = journal.log(limit=args.limit + 1, before=below)
            redo = journal.redo_target()
        page = commits[: args.limit]
        return {
            "head": None if head is None else head.number,
            "redo": redo,
            "commits": [_summary(commit) for commit in page],
            "next_before": str(page[-1].number) if len(commits) > args.limit else None,
        }

    return success(await asyncio.to_thread(work))


@server_tool("What differs between the scenes of two commits, property by property.", read_only=True)
async def history_diff(context: ServerContext, caller: Caller, args: DiffArgs) -> ToolResponse:
    def work() -> dict[str, Any]:
        with (
            read_journal(context.workspace) as journal,
            inspection_workers(context.workspace, blender=context.blender) as scenes,
            contextlib.ExitStack() as end,
        ):
            # A request that is cancelled ends its Blender processes, and so whatever waits for them.
            end.callback(caller.cancel.subscribe(scenes.pool.close))
            before, after = find(journal, args.a), find(journal, args.b)
            differences = difference(journal, scenes, before, after)
        return {"a": before.number, "b": after.number, "equal": differences.is_empty, **differences.to_json()}

    return success(await context.run_aside(caller, work))


@server_tool(
    "Go to the scene of any commit. Nothing is lost: all commits stay, so this can be taken back the same way."
)
async def history_checkout(context: ServerContext, caller: Caller, args: CheckoutArgs) -> ToolResponse:
    def work(opened: OpenScene) -> dict[str, Any]:
        moved = opened.checkout(args.commit, caller.options)
        return {"from": moved.origin, "head": moved.commit.number, "scene_hash": moved.commit.hash_after}

    return success(await context.run(caller, work))


def _summary(commit: Commit) -> dict[str, Any]:
    return {name: getattr(commit, name) for name in SUMMARY_FIELDS}


TOOLS = (history_log, history_diff, history_checkout)
