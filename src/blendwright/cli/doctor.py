"""blendwright doctor: what works here, what is missing and how to get it."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.app.environment_checks import Check, check_environment
from blendwright.app.host_checks import check_host
from blendwright.cli.options import AsJson, Blender
from blendwright.cli.output import Exit, present
from blendwright.cli.safe_console import Cell, SafeConsole


def doctor(
    blender: Blender = None,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Also check the set-up of this language-model host.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Check that Blendwright can work here; says what is missing and how to get it."""
    checks = [*check_environment(blender), *([] if host is None else check_host(host))]
    fit = all(check.ok or not check.required for check in checks)
    return present(
        json,
        lambda: {"ok": fit, "checks": [check.to_json() for check in checks]},
        lambda out: _show(out, checks, fit),
        Exit.DONE if fit else Exit.UNFIT,
    )


def _show(out: SafeConsole, checks: list[Check], fit: bool) -> None:
    rows: list[tuple[Cell, ...]] = []
    for check in checks:
        word = ("ok", "green") if check.ok else ("missing", "red") if check.required else ("note", "yellow")
        rows.append((word, (check.name, "bold"), check.found))
        if check.cure and not check.ok:
            rows.append(("", "", check.cure))
    out.columns(rows)
    out.show("ready" if fit else "not ready: see what is missing above")
