"""The response to a tool call: the contract's envelope as structured content and the same JSON as text.

Some hosts show their model only the text. A failure is an error result with the envelope, never a protocol error.
Strings from a scene are data, so `sanitise` removes control characters from them and cuts them.
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

# The longest string in an answer. Names in Blender have at most 255 bytes.
MAX_TEXT_CHARACTERS = 8000
# The most characters of an unknown tool name in an answer, because a caller may have sent arguments as the name.
MAX_NAME_CHARACTERS = 63
# Format characters that are part of ordinary writing: joiners of scripts and emoji.
JOINERS = frozenset("\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in the format that `mime_type` names. `path` is its file, or None."""

    data: bytes
    mime_type: str = "image/png"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """Bytes for a page of Blendwright, which hosts do not show to a model."""

    data: bytes
    mime_type: str
    uri: str


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The outcome of a call, which `render_response` puts into the contract's envelope, and its pictures.

    The server's own tools leave `outcome.tool` empty, and the service fills it in.
    """

    outcome: Outcome
    images: tuple[Picture, ...] = ()
    detail: Detail = "summary"
    whole: bool = False
    """Whether the caller chose this length, so that the answer is not cut."""
    attached: tuple[AttachedFile, ...] = ()


def success(result: Mapping[str, Any], determinism: DeterminismClass = "deterministic") -> ToolResponse:
    """Return a response with this result."""
    return ToolResponse(Outcome("", 1, result=result, determinism_class=determinism))


def failure(*findings: Finding) -> ToolResponse:
    """Return a response with these findings. The first one decides its code."""
    return ToolResponse(Outcome("", 1, fault=findings[0].fault, message=sentence(findings), findings=findings))


def error_failure(error: BaseException) -> ToolResponse:
    """Return a failure for an error that stopped a call. For a defect it names only the type, because the log has the
    details.
    """
    if isinstance(error, Refusal) and error.findings:
        return failure(*error.findings)
    if isinstance(error, BlendwrightError):
        return failure(Finding(Fault.CAPABILITY_MISSING, error.message, "", error.cure))
    message = f"{type(error).__name__} in the server; the log of the server has the details"
    return failure(Finding(Fault.INTERNAL_ERROR, message))


def render_response(
    name: str, response: ToolResponse, envelope: EnvelopeName, payload_bytes: int | None = None
) -> types.CallToolResult:
    """Return the result that the host receives. `name` is the called tool, for an outcome that names none.

    A result larger than `payload_bytes` is replaced by a short one that reports its size, so that the answer always
    arrives.
    """
    outcome = response.outcome
    if not outcome.tool:
        outcome = outcome.with_(tool=name[:MAX_NAME_CHARACTERS])
    document: dict[str, Any] = sanitise(render_envelope(outcome, envelope))
    if response.detail != "full":
        document = brief_envelope(document)
        if response.detail == "summary" and not response.whole:
            document = fitted(document)

    text = orjson.dumps(document)
    size = 2 * len(text) + sum(len(image.data) * 4 // 3 for image in response.images)
    if payload_bytes is not None and size > payload_bytes:
        fix = (
            "Request less at once: a page, a smaller picture, a part of the plan. history_log lists what was committed."
        )
        left_out = {"bytes": size, "payload_bytes": payload_bytes, "cure": fix}
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
    """Return the value for a model: without control and invisible characters, and with long strings cut."""
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
    return "".join(char for char in text if char in "\n\t" or char in JOINERS or not _is_invisible(char))


def _is_invisible(char: str) -> bool:
    # Cc control, Cf format (such as direction overrides), Co private, Cs surrogates, Zl/Zp line and paragraph separators.
    return unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
