"""blendwright schemas: the JSON Schemas that are published, with their versions, or one of them."""

from __future__ import annotations

from typing import Annotated

import typer

from blendwright.cli.options import AsJson
from blendwright.cli.output import Exit, present, print_json
from blendwright.schemas import published
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import did_you_mean


def schemas(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A schema's name, like macro.v1; the newest without a version.")
    ] = None,
    json: AsJson = False,
) -> int:
    """List the published schemas, or print one, which is always JSON."""
    known = published.names()
    if name is not None:
        versions = [each for each in known if each == name or each.rpartition(".")[0] == name]
        if not versions:
            cure = did_you_mean(name, known, otherwise="List them all: blendwright schemas")
            raise Refusal.of(Fault.SCHEMA_INVALID, f"there is no schema named '{name}'", cure)
        print_json(published.schema(max(versions, key=_version_of)))
        return Exit.DONE
    listed = [
        {"name": each, "version": _version_of(each), "id": published.schema(each)["$id"], "title": _title_of(each)}
        for each in known
    ]
    return present(
        json,
        lambda: {"schemas": listed},
        lambda out: out.columns(((str(entry["name"]), "bold"), str(entry["title"])) for entry in listed),
    )


def _version_of(name: str) -> int:
    return int(name.rpartition(".v")[2])


def _title_of(name: str) -> str:
    schema = published.schema(name)
    return str(schema.get("description") or schema.get("title") or "").partition("\n")[0]
