"""history_log, history_diff, history_checkout: what was done, what it changed, and going back to it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from pydantic import Field

from blendwright.app.diffing import difference
from blendwright.app.open_scene import OpenScene
from blendwright.app.read_workspace import inspect_scene, read_journal
from blendwright.records.commits import Commit
from blendwright.run.history import find
from blendwright.server.answers import Answer, succeeded
from blendwright.server.context import Caller, ServerContext
from blendwright.server.server_tool import ServerTool
from blendwright.tool_api.arguments import Args

COMMIT = "Number of a commit, or HEAD."
SHOWN = ("number", "parent", "kind", "request_id", "operation_id", "tool", "timestamp", "hash_after")


class LogArgs(Args):
    limit: int = Field(default=20, ge=1, le=500)
    before: str | None = Field(default=None, description="Only those before this commit: the next page.")


class DiffArgs(Args):
    a: str = Field(description=COMMIT)
    b: str = Field(default="HEAD", description=COMMIT)


class CheckoutArgs(Args):
    commit: str = Field(description=COMMIT)


async def history_log(house: ServerContext, caller: Caller, args: LogArgs) -> Answer:
    def work() -> dict[str, Any]:
        with read_journal(house.workspace) as journal:
            head = journal.head
            below = None if args.before is None else find(journal, args.before).number
            found = journal.log(limit=args.limit + 1, before=below)
            redo = journal.redo_target()
        page = found[: args.limit]
        return {
            "head": None if head is None else head.number,
            "redo": redo,
            "commits": [_summary(commit) for commit in page],
            "next_before": str(page[-1].number) if len(found) > args.limit else None,
        }

    return succeeded("history_log", await asyncio.to_thread(work))


async def history_diff(house: ServerContext, caller: Caller, args: DiffArgs) -> Answer:
    def work() -> dict[str, Any]:
        with (
            read_journal(house.workspace) as journal,
            inspect_scene(house.workspace, blender=house.blender) as place,
            contextlib.ExitStack() as end,
        ):
            # A request that is cancelled ends its Blenders, and so whatever waits for them.
            end.callback(caller.cancel.subscribe(place.pool.close))
            before, after = find(journal, args.a), find(journal, args.b)
            found = difference(journal, place, before, after)
        return {"a": before.number, "b": after.number, "equal": found.none, **found.to_json()}

    return succeeded("history_diff", await house.ask_beside(caller, work))


async def history_checkout(house: ServerContext, caller: Caller, args: CheckoutArgs) -> Answer:
    def work(opened: OpenScene) -> dict[str, Any]:
        moved = opened.checkout(args.commit, caller.options)
        return {"from": moved.origin, "head": moved.commit.number, "scene_hash": moved.commit.hash_after}

    return succeeded("history_checkout", await house.ask(caller, work))


def _summary(commit: Commit) -> dict[str, Any]:
    return {name: getattr(commit, name) for name in SHOWN}


OFFERS = (
    ServerTool("history_log", "The commits that led to the scene, newest first.", LogArgs, history_log, read_only=True),
    ServerTool(
        "history_diff",
        "What differs between the scenes of two commits, property by property.",
        DiffArgs,
        history_diff,
        read_only=True,
    ),
    ServerTool(
        "history_checkout",
        "Go to the scene of any commit. Nothing is lost: all commits stay, so this can be taken back the same way.",
        CheckoutArgs,
        history_checkout,
        read_only=False,
    ),
)
