"""MCP resources: the catalogue, the scene, the journal, published schemas and pictures.

Lists have pages and templates have completions. All resources are read-only, and strings from a scene are sanitised
like in any response.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
import orjson
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from blendwright.nodes.catalogue.load import NEWEST, TREE_KINDS, catalogue, find_node_type
from blendwright.nodes.catalogue.search import describe_node_type
from blendwright.policy.redaction import redacted_receipt
from blendwright.schemas import published
from blendwright.server.answers.response import sanitise
from blendwright.server.context import Caller, ServerContext
from blendwright.server.pictures.pictures import sendable
from blendwright.server.tools import apps
from blendwright.server.tools.catalogue import tool_page
from blendwright.server.transport.client_info import (
    RequestContext,
    client_id,
    contract_proposal,
    host_statements,
    supports_elicitation,
)
from blendwright.server.transport.elicitation import session_approver
from blendwright.util.no_follow import read_file
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.views.queries import commit_details
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import read_journal

SCHEME = "blendwright://"
JSON, PNG = "application/json", "image/png"
PAGE = 100
MAX_COMPLETIONS = 100
# The largest sequence number that the journal's database can store.
MAX_AUDIT_SEQUENCE = 2**63 - 1
COMMIT_FIELDS = ("number", "parent", "kind", "tool", "operation_id", "request_id", "args", "receipt", "hash_before", "hash_after",
                 "timestamp")  # fmt: skip
# The error codes for a missing resource in revision 2026-07-28 and in older revisions of the protocol.
NOT_FOUND = -32602
NOT_FOUND_BEFORE_2026 = -32002


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A family of resources with addresses `blendwright://name/{argument}`."""

    name: str
    argument: str
    description: str
    names: Callable[[], Iterable[str]]
    read: Callable[[str], Any]
    mime_type: str = JSON


class Resources:
    """The resources of one served workspace."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        # Resolved once, so that a symbolic link created later is not followed.
        self._artifacts = context.artifacts
        kinds = (
            ResourceKind("tools", "name", "Arguments, promises and examples of a tool.", lambda: context.tools,
                         lambda name: tool_page(context.tools[name])),
            ResourceKind("macros", "name", "Inputs, steps and promises of a macro.", lambda: context.macros,
                         lambda name: context.macros[name].declaration()),
            ResourceKind("nodes", "bl_idname", "Sockets and properties of a node.", _node_names, _node),
            ResourceKind("schemas", "name", "A published JSON Schema.", published.names, _schema),
            ResourceKind("commits", "number", "One commit: arguments, receipt, hashes.", self._commits, self._commit),
            ResourceKind("receipts", "request_id", "The receipts of a request.", self._requests, self._receipts),
            ResourceKind("audit", "after", "Audit records after a sequence number.", lambda: ("0",), self._audit),
            ResourceKind("artifacts", "name", "A picture the engine made.", self._pictures, self._picture, PNG),
        )  # fmt: skip
        self._kinds = {kind.name: kind for kind in kinds}
        self._fixed = {
            f"{SCHEME}catalogue": ("catalogue", "Every tool of plans with its summary."),
            f"{SCHEME}scene": ("scene", "The scene: settings, collections, and its first objects."),
        }

    # ------------------------------------------------------------------ lists

    async def list(self, ctx: RequestContext, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        resources = await asyncio.to_thread(lambda: [*self._all()])
        start = _cursor(params, len(resources))
        end = start + PAGE
        next_cursor = None
        if end < len(resources):
            next_cursor = str(end)
        return types.ListResourcesResult(resources=resources[start:end], next_cursor=next_cursor)

    async def list_templates(
        self, ctx: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                name=kind.name,
                uri_template=f"{SCHEME}{kind.name}/{{{kind.argument}}}",
                description=kind.description,
                mime_type=kind.mime_type,
            )
            for kind in self._kinds.values()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    def _all(self) -> Iterator[types.Resource]:
        for uri, (name, description) in self._fixed.items():
            yield types.Resource(name=name, uri=uri, description=description, mime_type=JSON)
        for kind in (self._kinds[name] for name in ("tools", "macros", "schemas", "artifacts")):
            for name in sorted(kind.names()):
                path = f"{kind.name}/{name}"
                yield types.Resource(name=path, uri=f"{SCHEME}{path}", mime_type=kind.mime_type)

    async def complete(self, ctx: RequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
        values: Sequence[str] = ()
        if isinstance(params.ref, types.ResourceTemplateReference):
            kind = self._kinds.get(params.ref.uri.removeprefix(SCHEME).partition("/")[0])
            if kind is not None:
                values = await asyncio.to_thread(_completions, kind, params.argument.value)
        shown = list(values[:MAX_COMPLETIONS])
        has_more = len(values) > len(shown)
        return types.CompleteResult(completion=types.Completion(values=shown, total=len(values), has_more=has_more))

    # ------------------------------------------------------------------ reading

    async def read(self, ctx: RequestContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == apps.URI:
            return types.ReadResourceResult(contents=[await asyncio.to_thread(apps.page_contents)])
        name, _, argument = uri.removeprefix(SCHEME).partition("/")
        try:
            if uri == f"{SCHEME}catalogue":
                content: Any = {tool.name: tool.summary() for tool in self._context.tools.values()}
            elif uri == f"{SCHEME}scene":
                content = await self._scene(ctx, uri)
            elif uri.startswith(SCHEME) and name in self._kinds and argument:
                content = await self._read_item(ctx, uri, self._kinds[name], argument)
            else:
                raise _missing(ctx, uri)
        except BlendwrightError as error:
            raise _unreadable(uri, error.message, error.cure) from error
        if isinstance(content, bytes):
            # A picture that is too large for a client is sent in a smaller form. The file on disk is complete.
            picture = await asyncio.to_thread(sendable, content)
            if picture is None:
                raise _unreadable(
                    uri, "the picture is broken or has too many pixels to be sent", "Open the file on disk."
                )
            blob = base64.b64encode(picture.data).decode()
            contents = types.BlobResourceContents(uri=uri, mime_type=picture.mime_type, blob=blob)
            return types.ReadResourceResult(contents=[contents])
        text = orjson.dumps(sanitise(content), option=orjson.OPT_INDENT_2).decode()
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=text)])

    async def _read_item(self, ctx: RequestContext, uri: str, kind: ResourceKind, name: str) -> Any:
        try:
            return await asyncio.to_thread(kind.read, name)
        except (Refusal, LookupError, ValueError) as error:
            raise _missing(ctx, uri) from error

    async def _scene(self, ctx: RequestContext, uri: str) -> Any:
        # The newer protocol versions can ask the user only during tool calls.
        approver = None
        if supports_elicitation(ctx) and ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            approver = session_approver(ctx.session, ctx.request_id)
        statements = host_statements(ctx, self._context.statements)
        proposal = contract_proposal(ctx, statements)
        caller = Caller(client_id(ctx), lambda done, total, message: None, proposal, statements, approver)
        outcome = await self._context.call_tool(caller, "scene.snapshot", {"limit": PAGE})
        if not outcome.ok:
            fix = None
            if outcome.findings:
                fix = outcome.findings[0].cure
            raise _unreadable(uri, outcome.message, fix)
        return outcome.result

    def _commits(self) -> list[str]:
        with read_journal(self._context.workspace) as journal:
            return [str(commit.number) for commit in journal.log(limit=MAX_COMPLETIONS)]

    def _commit(self, number: str) -> Any:
        details = commit_details(self._context.workspace, number)
        return {name: details[name] for name in COMMIT_FIELDS}

    def _requests(self) -> list[str]:
        with read_journal(self._context.workspace) as journal:
            return list(dict.fromkeys(commit.request_id for commit in journal.log(limit=1000)))

    def _receipts(self, request_id: str) -> Any:
        with read_journal(self._context.workspace) as journal:
            commits = [commit for commit in journal.log(limit=100_000) if commit.request_id == request_id]
        if not commits:
            raise LookupError(request_id)
        fields = self._redacted_fields()
        return [redacted_receipt(commit.receipt, fields) for commit in reversed(commits)]

    def _redacted_fields(self) -> Sequence[str]:
        return load_policy(self._context.workspace).policy.audit.redact

    def _audit(self, after: str) -> Any:
        number = int(after)
        if not after.isdecimal() or number > MAX_AUDIT_SEQUENCE:
            raise LookupError(after)
        with read_journal(self._context.workspace) as journal:
            records = journal.audit.records(after=number, limit=PAGE)
        return [{"sequence": record.sequence, "hash": record.hash, **record.record} for record in records]

    def _pictures(self) -> list[str]:
        return sorted(path.name for path in self._artifacts.glob("*.png"))

    def _picture(self, name: str) -> bytes:
        if name not in self._pictures():
            raise LookupError(name)
        try:
            return read_file(self._artifacts / name)
        except OSError as error:
            raise LookupError(name) from error  # removed in the meantime, or a symbolic link


def _unreadable(uri: str, message: str, fix: str | None) -> MCPError:
    """Return the error for a resource that cannot be read now, although it may exist."""
    text = message
    if fix:
        text = f"{message}. {fix}"
    return MCPError(types.INTERNAL_ERROR, sanitise(text), {"uri": uri, "cure": fix})


def _missing(ctx: RequestContext, uri: str) -> MCPError:
    code = NOT_FOUND_BEFORE_2026
    if ctx.protocol_version >= "2026":
        code = NOT_FOUND
    return MCPError(code, f"there is no resource {uri}", {"uri": uri})


def _completions(kind: ResourceKind, prefix: str) -> Sequence[str]:
    """Return the names that begin with the prefix, then the names that contain it."""
    try:
        names = sorted(kind.names())
    except BlendwrightError:
        return ()  # reading a resource reports the error
    return sorted((name for name in names if prefix in name), key=lambda name: not name.startswith(prefix))


def _node_names() -> Iterable[str]:
    return dict.fromkeys(name for kind in TREE_KINDS for name in catalogue(NEWEST, kind))


def _node(name: str) -> Any:
    node = find_node_type(name)
    if node is None:
        raise LookupError(name)
    return describe_node_type(node)


def _schema(name: str) -> Any:
    if name not in published.names():
        raise LookupError(name)
    return published.schema(name)


def _cursor(params: types.PaginatedRequestParams | None, total: int) -> int:
    if params is None or params.cursor is None:
        return 0
    cursor = params.cursor
    if not cursor.isdecimal() or int(cursor) > total:
        raise MCPError(NOT_FOUND, "this cursor is not from this server", {"cursor": cursor})
    return int(cursor)
