"""The response to a tool call: the contract's envelope as structured content, and the very same JSON as text.

Some hosts show their model only the text. A failure is an error result with the envelope, never a protocol error and never a
sentence that has to be read to know that it is one. What comes from a scene is data: cleaned of control characters and cut.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import orjson

from blendwright.dialects.envelopes import render_envelope
from blendwright.policy.host_profile import EnvelopeName
from blendwright.server.answers.plan_report import Detail, brief_envelope, fitted
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.outcome import DeterminismClass, Outcome

# Names in Blender have at most 255 bytes; anything much longer is prose that nobody asked for.
MAX_TEXT_CHARACTERS = 8000
# Of a name that no tool has: whoever mixed up name and arguments need not read them again.
MAX_NAME_CHARACTERS = 63
# Format characters that are part of ordinary writing: joiners of scripts and emoji.
JOINERS = frozenset("\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in the form that `mime_type` names; `path` is where it is kept, if it is."""

    data: bytes
    mime_type: str = "image/png"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """Bytes for a page of ours, which a model is not shown."""

    data: bytes
    mime_type: str
    uri: str


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """`outcome` is rendered into the contract's envelope; pictures follow it. The server's own tools leave its name to the service."""

    outcome: Outcome
    images: tuple[Picture, ...] = ()
    detail: Detail = "summary"
    whole: bool = False
    """Whether it was asked for at this length: it is not cut then."""
    attached: tuple[AttachedFile, ...] = ()


def success(result: Mapping[str, Any], determinism: DeterminismClass = "deterministic") -> ToolResponse:
    return ToolResponse(Outcome("", 1, result=result, determinism_class=determinism))


def failure(*findings: Finding) -> ToolResponse:
    return ToolResponse(Outcome("", 1, fault=findings[0].fault, message=sentence(findings), findings=findings))


def error_failure(error: BaseException) -> ToolResponse:
    """A refusal, or what stopped the call: the workspace, the journal, a missing Blender. The insides of a defect are for the log only."""
    if isinstance(error, Refusal) and error.findings:
        return failure(*error.findings)
    if isinstance(error, BlendwrightError):
        return failure(Finding(Fault.CAPABILITY_MISSING, error.message, "", error.cure))
    message = f"{type(error).__name__} in the server; its log says where"
    return failure(Finding(Fault.INTERNAL_ERROR, message))


def render_response(
    name: str, response: ToolResponse, envelope: EnvelopeName, payload_bytes: int | None = None
) -> types.CallToolResult:
    """`name` is the tool that was called, for an outcome that names none. What is larger than the host takes is left out, and said so:
    what was done is done, and its answer must arrive."""
    if response.outcome.tool:
        outcome = response.outcome
    else:
        outcome = response.outcome.with_(tool=name[:MAX_NAME_CHARACTERS])
    document: dict[str, Any] = sanitise(render_envelope(outcome, envelope))
    if response.detail != "full":
        document = brief_envelope(document)
        if response.detail == "summary" and not response.whole:
            document = fitted(document)
    text = orjson.dumps(document)
    size = 2 * len(text) + sum(len(image.data) * 4 // 3 for image in response.images)
    if payload_bytes is not None and size > payload_bytes:
        cure = "Ask for less at once: a page, a smaller picture, a plan in parts. What was committed is in history_log."
        left_out = {"bytes": size, "payload_bytes": payload_bytes, "cure": cure}
        short = outcome.with_(
            result={"left_out": left_out}, handles=(), changes=(), snapshot=None, findings=outcome.findings[:1]
        )
        response, document = replace(response, images=()), sanitise(render_envelope(short, envelope))
        text = orjson.dumps(document)
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text.decode())]
    for image in response.images:
        data = base64.b64encode(image.data).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type=image.mime_type))
    for file in response.attached:
        blob = base64.b64encode(file.data).decode()
        resource = types.BlobResourceContents(uri=file.uri, mime_type=file.mime_type, blob=blob)
        content.append(types.EmbeddedResource(type="resource", resource=resource))
    return types.CallToolResult(content=content, structured_content=document, is_error=not outcome.ok)


def sanitise(value: Any) -> Any:
    """Data for a model: no control or invisible characters, no text without end. Names in it stay otherwise as they are."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, Mapping):
        return {_clean_text(str(key)): sanitise(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [sanitise(part) for part in cast("list[Any]", value)]
    return value


def _clean_text(text: str) -> str:
    if len(text) > MAX_TEXT_CHARACTERS:
        text = text[:MAX_TEXT_CHARACTERS] + f"… ({len(text) - MAX_TEXT_CHARACTERS} more characters)"
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign for sign in text if sign in "\n\t" or sign in JOINERS or not _is_invisible(sign))


def _is_invisible(sign: str) -> bool:
    # Cc control, Cf format (direction overrides among them), Co private, Cs surrogates, Zl/Zp line and paragraph separators.
    return unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
