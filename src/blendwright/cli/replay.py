"""blendwright replay: the journal run again from its baseline, every hash compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson
from rich.text import Text

from blendwright.app.read_workspace import inspection_workers, read_journal
from blendwright.cli.output import AsJson, Blender, Exit, Workspace, console, print_json
from blendwright.run.history import require_head
from blendwright.run.replay import Replay
from blendwright.run.replay import replay as replay_journal


def replay(workspace: Workspace = ".blendwright", blender: Blender = None, json: AsJson = False) -> int:
    """Run all commits of HEAD's line again in a fresh Blender and compare; the workspace stays as it is.

    Another Blender than the one that wrote them has other hashes: then the results of the operations are compared.
    """
    with read_journal(workspace) as journal:
        require_head(journal)
        with inspection_workers(workspace, blender=blender) as place:
            found = replay_journal(place.worker(), journal)
    if json:
        print_json({"ok": found.ok, **asdict(found)})
    else:
        _show(found)
    return Exit.DONE if found.ok else Exit.FAILED


def _show(found: Replay) -> None:
    out = console()
    told = f"{found.commits} commits, {found.redone} run again, {found.opened} opened from a saved scene"
    if found.mismatch is None:
        out.print(Text("ok ", style="bold green").append(f"{told}; all {found.by} agree", style="default"))
        return
    mismatch = found.mismatch
    out.print(
        Text("mismatch ", style="bold red").append(f"at commit {mismatch.commit}: {mismatch.what}", style="default")
    )
    out.print(Text(f"  the journal says  {_text(mismatch.expected)}"))
    out.print(Text(f"  found             {_text(mismatch.found)}"))
    if found.agreed is not None:
        agreed = (
            f"up to commit {found.agreed} everything agrees: `blendwright recover --to {found.agreed}` goes on there"
        )
        out.print(Text(f"  {agreed}"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
