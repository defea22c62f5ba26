"""blendwright schemas: the JSON Schemas that are published, with their versions, or one of them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from blendwright.cli.output import AsJson, Columns, Exit, console, print_json
from blendwright.schemas import published
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean


def schemas(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A schema's name, like macro.v1; the newest without a version.")
    ] = None,
    json: AsJson = False,
) -> int:
    """List the published schemas, or print one, which is always JSON."""
    known = published.names()
    if name is not None:
        versions = [one for one in known if one == name or one.rpartition(".")[0] == name]
        if not versions:
            cure = did_you_mean(name, known, otherwise="List them all: blendwright schemas")
            raise Refusal([Finding(Fault.SCHEMA_INVALID, f"there is no schema named '{name}'", "", cure)])
        print_json(published.schema(max(versions, key=version_of)))
        return Exit.DONE
    if json:
        print_json({"schemas": [{"name": one, "version": version_of(one), "id": published.schema(one)["$id"],
                                 "title": title_of(one)} for one in known]})  # fmt: skip
        return Exit.DONE
    table = Columns()
    for one in known:
        table.row(Text(one, style="bold"), Text(title_of(one)))
    console().print(table)
    return Exit.DONE


def version_of(name: str) -> int:
    return int(name.rpartition(".v")[2])


def title_of(name: str) -> str:
    found = published.schema(name)
    return str(found.get("description") or found.get("title") or "").partition("\n")[0]
