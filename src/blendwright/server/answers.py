"""An answer on its way to a host: the contract's envelope as structured content, and the very same JSON as text.

Some hosts show their model only the text. A failure is an error result with the envelope, never a protocol error and never a
sentence that has to be read to know that it is one. What comes from a scene is data: cleaned of control characters and cut.
"""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import mcp_types as types
import orjson

from blendwright.dialects.envelopes import core_envelope, result_envelope
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence
from blendwright.values.outcome import DeterminismClass, Outcome

Envelope = Literal["tool_result", "core"]

# Names in Blender have at most 255 bytes; anything much longer is prose that nobody asked for.
LONGEST_TEXT = 8000
# Format characters that are part of ordinary writing: joiners of scripts and emoji.
KEPT = frozenset("\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Answer:
    """`outcome` is rendered into the contract's envelope; pictures follow it."""

    outcome: Outcome
    images: tuple[bytes, ...] = ()


def succeeded(name: str, result: Mapping[str, Any], determinism: DeterminismClass = "deterministic") -> Answer:
    """What a tool of the server found or did."""
    return Answer(Outcome(name, 1, result=result, determinism_class=determinism))


def refused(name: str, findings: tuple[Finding, ...], result: Mapping[str, Any] | None = None) -> Answer:
    """Why it did not; `result` is the payload of the plan's own contract where there is one."""
    told = sentence(findings)
    return Answer(Outcome(name, 1, fault=findings[0].fault, message=told, findings=findings, result=result))


def failed(name: str, error: BlendwrightError) -> Answer:
    """What stopped it: the workspace, the journal, or a Blender that cannot be had."""
    if isinstance(error, Refusal) and error.findings:
        return refused(name, error.findings)
    return refused(name, (Finding(Fault.CAPABILITY_MISSING, error.message, "", error.cure),))


def defect(name: str, error: BaseException) -> Answer:
    """What nobody expected; its insides are for the log, not for a model."""
    message = f"{type(error).__name__} in the server; its log says where"
    return refused(name, (Finding(Fault.INTERNAL_ERROR, message),))


def rendered(answer: Answer, envelope: Envelope) -> types.CallToolResult:
    outcome = answer.outcome
    if envelope == "core":
        document = core_envelope(outcome).model_dump(mode="json", exclude_none=True)
        if not outcome.ok and outcome.result is not None:
            document["error"]["details"]["result"] = outcome.result
    else:
        document = result_envelope(outcome).model_dump(mode="json")
    document = clean(document)
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=orjson.dumps(document).decode())]
    for image in answer.images:
        data = base64.b64encode(image).decode()
        content.append(types.ImageContent(type="image", data=data, mime_type="image/png"))
    return types.CallToolResult(content=content, structured_content=document, is_error=not outcome.ok)


def clean(value: Any) -> Any:
    """Data for a model: no control or invisible characters, no text without end. Names in it stay otherwise as they are."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, Mapping):
        return {_clean_text(str(key)): clean(part) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [clean(part) for part in cast("list[Any]", value)]
    return value


def _clean_text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        text = text[:LONGEST_TEXT] + f"… ({len(text) - LONGEST_TEXT} more characters)"
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign for sign in text if sign in "\n\t" or sign in KEPT or not _unseen(sign))


def _unseen(sign: str) -> bool:
    # Cc control, Cf format (direction overrides among them), Co private, Cs surrogates, Zl/Zp line and paragraph separators.
    return unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
