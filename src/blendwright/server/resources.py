"""What a host may read besides calling tools: the catalogue, the scene, the journal, published schemas, pictures.

Lists are paged and templates completed. Everything is read only; what comes from a scene is cleaned like any answer.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources as package_files
from typing import Any

import mcp_types as types
import orjson
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from blendwright.app.open_scene import OpenScene
from blendwright.app.policy_files import load_policy
from blendwright.app.read_workspace import read_journal
from blendwright.nodes.catalogue.describe import describe_node_type
from blendwright.nodes.catalogue.load import NEWEST, catalogue
from blendwright.policy.redaction import redacted, redacted_receipt
from blendwright.run.history import find
from blendwright.server.answers import clean
from blendwright.server.asking import through_session
from blendwright.server.catalogue_tools import page as tool_page
from blendwright.server.context import Caller, ServerContext
from blendwright.server.hosts import can_ask, client_of, proposal_of
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.outcome import Outcome

SCHEME = "blendwright://"
PAGE = 100
MOST_COMPLETIONS = 100
# What the 2026-07-28 revision says for a resource that is not there; older ones have a code of their own.
NOT_FOUND = -32602
NOT_FOUND_BEFORE_2026 = -32002

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """One family of resources: `blendwright://name/{argument}`."""

    name: str
    argument: str
    description: str
    mime_type: str
    known: Callable[[], Iterable[str]]
    read: Callable[[str], Any]


class Resources:
    """The resources of one served workspace."""

    def __init__(self, house: ServerContext) -> None:
        self._house = house
        json = "application/json"
        self._kinds = {
            kind.name: kind
            for kind in (
                Kind("tools", "name", "Arguments, promises and examples of a tool.", json, lambda: house.tools, self._tool),
                Kind("macros", "name", "Inputs, steps and promises of a macro.", json, lambda: house.macros, self._macro),
                Kind("nodes", "bl_idname", "Sockets and properties of a geometry node.", json, node_names, node),
                Kind("schemas", "name", "A published JSON Schema.", json, schema_names, schema),
                Kind("commits", "number", "One commit: arguments, receipt, hashes.", json, self._commits, self._commit),
                Kind("receipts", "request_id", "The receipts of a request.", json, self._requests, self._receipts),
                Kind("audit", "after", "Audit records after a sequence number.", json, lambda: ("0",), self._audit),
                Kind("artifacts", "name", "A picture the engine made.", "image/png", self._pictures, self._picture),
            )
        }  # fmt: skip
        self._fixed = {
            f"{SCHEME}catalogue": ("catalogue", "Every tool of plans with its summary."),
            f"{SCHEME}scene": ("scene", "The scene: settings, collections, and its first objects."),
        }

    # ------------------------------------------------------------------ lists

    async def listed(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        every = await asyncio.to_thread(self._all)
        start = _cursor(params, len(every))
        found = every[start : start + PAGE]
        following = str(start + PAGE) if start + PAGE < len(every) else None
        return types.ListResourcesResult(resources=found, next_cursor=following)

    async def templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(
                name=kind.name,
                uri_template=f"{SCHEME}{kind.name}/{{{kind.argument}}}",
                description=kind.description,
                mime_type=kind.mime_type,
            )
            for kind in self._kinds.values()
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    def _all(self) -> list[types.Resource]:
        found = [
            types.Resource(name=name, uri=uri, description=said, mime_type="application/json")
            for uri, (name, said) in self._fixed.items()
        ]
        for name in ("tools", "macros", "schemas", "artifacts"):
            kind = self._kinds[name]
            found += [
                types.Resource(name=f"{name}/{one}", uri=f"{SCHEME}{name}/{one}", mime_type=kind.mime_type)
                for one in sorted(kind.known())
            ]
        return found

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        values: list[str] = []
        if isinstance(params.ref, types.ResourceTemplateReference):
            name = params.ref.uri.removeprefix(SCHEME).partition("/")[0]
            kind = self._kinds.get(name)
            if kind is not None:
                try:
                    known = await asyncio.to_thread(lambda: sorted(kind.known()))
                except BlendwrightError:
                    known = []  # whoever reads one is told what is wrong
                begun = params.argument.value
                values = [one for one in known if one.startswith(begun)]
                values += [one for one in known if begun in one and not one.startswith(begun)]
        shown = values[:MOST_COMPLETIONS]
        more = len(values) > len(shown)
        return types.CompleteResult(completion=types.Completion(values=shown, total=len(values), has_more=more))

    # ------------------------------------------------------------------ reading

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        name, _, rest = uri.removeprefix(SCHEME).partition("/")
        try:
            if uri == f"{SCHEME}catalogue":
                found: Any = {tool.name: tool.summary() for tool in self._house.tools.values()}
            elif uri == f"{SCHEME}scene":
                found = await self._scene(ctx, uri)
            elif uri.startswith(SCHEME) and name in self._kinds and rest:
                found = await self._one(ctx, uri, self._kinds[name], rest)
            else:
                raise self._missing(ctx, uri)
        except BlendwrightError as error:
            raise _failed(uri, error.message, error.cure) from error
        if isinstance(found, bytes):
            blob = base64.b64encode(found).decode()
            return types.ReadResourceResult(
                contents=[types.BlobResourceContents(uri=uri, mime_type="image/png", blob=blob)]
            )
        text = orjson.dumps(clean(found), option=orjson.OPT_INDENT_2).decode()
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
        )

    async def _one(self, ctx: Context, uri: str, kind: Kind, name: str) -> Any:
        try:
            return await asyncio.to_thread(kind.read, name)
        except (Refusal, LookupError, ValueError) as error:
            raise self._missing(ctx, uri) from error

    async def _scene(self, ctx: Context, uri: str) -> Any:
        # The newer era has a way to ask during calls of tools only.
        asks = can_ask(ctx) and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS
        prompt = through_session(ctx.session, ctx.request_id) if asks else None
        caller = Caller(client_of(ctx), lambda done, total, message: None, proposal_of(ctx), prompt)

        def work(opened: OpenScene) -> Outcome:
            return opened.outcome("scene.snapshot", {"limit": PAGE}, caller.options)

        outcome = await self._house.ask(caller, work)
        if not outcome.ok:
            raise _failed(uri, outcome.message, outcome.findings[0].cure if outcome.findings else None)
        return outcome.result

    def _missing(self, ctx: Context, uri: str) -> MCPError:
        code = NOT_FOUND if ctx.protocol_version >= "2026" else NOT_FOUND_BEFORE_2026
        return MCPError(code, f"there is no resource {uri}", {"uri": uri})

    def _tool(self, name: str) -> Any:
        return tool_page(self._house.tools[name])

    def _macro(self, name: str) -> Any:
        return self._house.macros[name].declaration()

    def _commits(self) -> list[str]:
        with read_journal(self._house.workspace) as journal:
            return [str(commit.number) for commit in journal.log(limit=MOST_COMPLETIONS)]

    def _commit(self, number: str) -> Any:
        with read_journal(self._house.workspace) as journal:
            commit = find(journal, number)
        hidden = self._hidden()
        return {
            "number": commit.number, "parent": commit.parent, "kind": commit.kind, "tool": commit.tool,
            "operation_id": commit.operation_id, "request_id": commit.request_id, "args": redacted(commit.args, hidden),
            "receipt": redacted_receipt(commit.receipt, hidden), "hash_before": commit.hash_before, "hash_after": commit.hash_after,
            "timestamp": commit.timestamp,
        }  # fmt: skip

    def _requests(self) -> list[str]:
        with read_journal(self._house.workspace) as journal:
            return list(dict.fromkeys(commit.request_id for commit in journal.log(limit=1000)))

    def _receipts(self, request_id: str) -> Any:
        with read_journal(self._house.workspace) as journal:
            commits = [commit for commit in journal.log(limit=100_000) if commit.request_id == request_id]
        if not commits:
            raise LookupError(request_id)
        hidden = self._hidden()
        return [redacted_receipt(commit.receipt, hidden) for commit in reversed(commits)]

    def _hidden(self) -> Sequence[str]:
        return load_policy(self._house.workspace).policy.audit.redact

    def _audit(self, after: str) -> Any:
        with read_journal(self._house.workspace) as journal:
            records = journal.audit_records(after=int(after), limit=PAGE)
        return [{"sequence": record.sequence, "hash": record.hash, **record.record} for record in records]

    def _pictures(self) -> list[str]:
        place = self._house.workspace / "artifacts"
        return sorted(path.name for path in place.glob("*.png")) if place.is_dir() else []

    def _picture(self, name: str) -> bytes:
        if name not in self._pictures():
            raise LookupError(name)
        return (self._house.workspace / "artifacts" / name).read_bytes()


def _failed(uri: str, message: str, cure: str | None) -> MCPError:
    """It may well be there, but cannot be had now."""
    told: str = clean(f"{message}. {cure}" if cure else message)
    return MCPError(types.INTERNAL_ERROR, told, {"uri": uri, "cure": cure})


def node_names() -> Iterable[str]:
    return catalogue(NEWEST)


def node(name: str) -> Any:
    found = catalogue(NEWEST).find(name)
    if found is None:
        raise LookupError(name)
    return describe_node_type(found)


def schema_names() -> list[str]:
    place = package_files.files("blendwright").joinpath("schemas")
    return sorted(entry.name.removesuffix(".json") for entry in place.iterdir() if entry.name.endswith(".json"))


def schema(name: str) -> Any:
    if name not in schema_names():
        raise LookupError(name)
    return orjson.loads(package_files.files("blendwright").joinpath("schemas", f"{name}.json").read_bytes())


def _cursor(params: types.PaginatedRequestParams | None, total: int) -> int:
    cursor = None if params is None else params.cursor
    if cursor is None:
        return 0
    if not cursor.isdecimal() or int(cursor) > total:
        raise MCPError(NOT_FOUND, "this cursor is none of ours", {"cursor": cursor})
    return int(cursor)
