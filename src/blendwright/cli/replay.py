"""blendwright replay: the journal run again from its baseline, every hash compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from blendwright.app import queries
from blendwright.cli.options import AsJson, Blender, Workspace
from blendwright.cli.output import Exit, present
from blendwright.cli.safe_console import SafeConsole
from blendwright.run.rebuild import Replay


def replay(workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False) -> int:
    """Run all commits of HEAD's line again in a fresh Blender and compare; the workspace stays as it is.

    Another Blender than the one that wrote them has other hashes: then the results of the operations are compared.
    """
    result = queries.replay(workspace, blender=blender)
    exit_code = Exit.DONE if result.ok else Exit.FAILED
    return present(json, lambda: {"ok": result.ok, **asdict(result)}, lambda out: _show(out, result), exit_code)


def _show(out: SafeConsole, result: Replay) -> None:
    counts = f"{result.commits} commits, {result.redone} run again, {result.opened} opened from a saved scene"
    if result.mismatch is None:
        out.labelled("ok", f"{counts}; all {result.by} agree", "bold green")
        return
    out.labelled("mismatch", f"at commit {result.mismatch.commit}: {result.mismatch.what}", "bold red")
    out.show(f"  the journal says  {_text(result.mismatch.expected)}")
    out.show(f"  found             {_text(result.mismatch.found)}")
    if (last := result.agreed) is not None:
        out.show(f"  up to commit {last} everything agrees: `blendwright recover --to {last}` goes on there")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
