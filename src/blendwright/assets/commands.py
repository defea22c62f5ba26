"""The command `blendwright assets`, which lists the assets in the configured folders."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.assets.queries import find_assets
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import SafeConsole, present
from blendwright.tools.asset.search import AssetKind


def assets(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="Words to look for in names, tags, catalogues and descriptions."),
    ] = None,
    kind: Annotated[AssetKind | None, typer.Option("--kind", help="Show only assets of this kind.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Show only assets with this tag; repeatable.")
    ] = None,
    license: Annotated[
        str | None, typer.Option("--license", metavar="TEXT", help="Show only assets whose licence contains this text.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Show at most N assets.", min=1, max=10_000)] = 50,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the assets in the folders that blendwright.toml names, or only the assets that match the words."""
    matches = find_assets(workspace, " ".join(words or ()), kind=kind, tags=tag or (), license=license)
    shown = matches[:limit]

    def show(out: SafeConsole) -> None:
        out.columns(
            ((entry.name, "bold"), entry.kind, entry.asset, (entry.license or "unknown licence", "dim"))
            for entry in shown
        )
        out.show(f"{len(shown)} of {len(matches)} assets", "dim")

    document = {"ok": True, "total": len(matches), "assets": [entry.to_json() for entry in shown]}
    return present(json, lambda: document, show)
