"""blendwright assets: what the folders of assets hold."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.assets.queries import find_assets
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import SafeConsole, present
from blendwright.tools.asset.search import AssetKind


def assets(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]", help="Words of names, tags, catalogues or descriptions.")
    ] = None,
    kind: Annotated[AssetKind | None, typer.Option("--kind", help="Only such assets.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only those with this tag; repeatable.")
    ] = None,
    license: Annotated[
        str | None, typer.Option("--license", metavar="TEXT", help="Only those whose licence has this in it.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most so many.", min=1, max=10_000)] = 50,
    workspace: Workspace = ".blendwright",
    json: AsJson = False,
) -> int:
    """List the assets in the folders that blendwright.toml names, or those that fit some words."""
    found = find_assets(workspace, " ".join(words or ()), kind=kind, tags=tag or (), license=license)
    shown = found[:limit]

    def show(out: SafeConsole) -> None:
        out.columns(
            ((each.name, "bold"), each.kind, each.asset, (each.license or "no licence told", "dim")) for each in shown
        )
        out.show(f"{len(shown)} of {len(found)} assets", "dim")

    document = {"ok": True, "total": len(found), "assets": [each.to_json() for each in shown]}
    return present(json, lambda: document, show)
