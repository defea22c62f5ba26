"""The profile of a host: its name, its transport and its limits.

Several sources can state limits of a host, such as a file, flags or a call. `combined` merges their statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from blendwright.tool_api.promises import Determinism, strictest

Transport = Literal["in_process", "command_line", "stdio", "http"]
EnvelopeName = Literal["tool_result", "core"]
# The tools whose results Blendwright reads back, from the weakest value to the strictest: writing tools, or all tools.
Verification = Literal["writes", "all"]
# The source of a value. `policy` and `default` come from the machine; the other sources speak for the host.
Source = Literal["default", "policy", "host profile", "flag", "initialize", "call"]
Word = Annotated[str, Field(min_length=1, max_length=200)]
Bytes = Annotated[int, Field(ge=1024)]
Seconds = Annotated[float, Field(gt=0)]


class _Stated(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class HostLimits(_Stated):
    """The limits of a host as one source states them: its capabilities, a file, flags, or a call. Null states no limit."""

    payload_bytes: Bytes | None = Field(default=None, description="The largest message that the host takes or sends.")
    call_seconds: Seconds | None = Field(default=None, description="How long it waits for the answer to one call.")
    streaming: bool | None = Field(default=None, description="Whether it takes an answer in parts.")
    cancellation: bool | None = Field(default=None, description="Whether it can call off a call that runs.")
    envelope: EnvelopeName | None = Field(default=None, description="The form of results that it reads.")
    determinism: Determinism | None = Field(default=None, description="The weakest class of results that it accepts.")
    verification: Verification | None = Field(default=None, description="Whose results are read back.")


@dataclass(frozen=True, slots=True)
class HostStatement:
    """A statement of one source about the limits of a host."""

    source: Source
    limits: HostLimits


# The names in the contract for each field of HostLimits.
CONTRACT_NAMES = {
    "payload_bytes": ("limits.payload_bytes",),
    "call_seconds": ("constraints.call_seconds", "constraints.code_seconds", "constraints.render_seconds"),
    "streaming": ("host.streaming",),
    "cancellation": ("host.cancellation",),
    "envelope": ("host.envelope",),
    "determinism": ("constraints.determinism",),
    "verification": ("host.verification",),
}


def combined(statements: Sequence[HostStatement]) -> HostLimits:
    """Return the strictest stated value of each limit.

    The envelope is not a limit, so its last statement counts. A field that no source states is None.
    """
    stated: dict[str, list[Any]] = {name: list(_values(statements, name)) for name in HostLimits.model_fields}
    envelope: EnvelopeName | None = None
    if stated["envelope"]:
        envelope = stated["envelope"][-1]

    return HostLimits(
        payload_bytes=min(stated["payload_bytes"], default=None),
        call_seconds=min(stated["call_seconds"], default=None),
        streaming=min(stated["streaming"], default=None),
        cancellation=min(stated["cancellation"], default=None),
        envelope=envelope,
        determinism=strictest(*stated["determinism"]),
        verification=max(stated["verification"], key=get_args(Verification).index, default=None),
    )


def stated_sources(statements: Sequence[HostStatement], agreed: Mapping[str, Any]) -> dict[str, Source]:
    """Return the last source that stated each agreed value, keyed by the value's name in the contract.

    The result omits a name if no source stated it, or if the contract has another value because the policy is stricter.
    """
    sources: dict[str, Source] = {}
    for field, names in CONTRACT_NAMES.items():
        for statement in statements:
            value = getattr(statement.limits, field)
            for name in names:
                if value is not None and value == agreed[name]:
                    sources[name] = statement.source
    return sources


def _values(statements: Iterable[HostStatement], name: str) -> Iterable[Any]:
    for statement in statements:
        value = getattr(statement.limits, name)
        if value is not None:
            yield value


class HostProfile(_Stated):
    """The host of a session: its name and version, its transport and its limits."""

    name: Word = Field(default="blendwright", description="The host's own name.")
    version: Word = Field(default="1", description="The host's own version.")
    transport: Transport = Field(default="in_process", description="How calls and answers travel.")
    payload_bytes: Bytes | None = Field(
        default=None,
        description="The largest message that the host takes or sends; null where it has no limit.",
    )
    call_seconds: Seconds | None = Field(
        default=None,
        description="How long the host waits for the answer to one call; null where it has no limit.",
    )
    streaming: bool = Field(default=False, description="Whether it takes an answer in parts.")
    cancellation: bool = Field(default=False, description="Whether it can call off a call that runs.")
    elicitation: bool = Field(default=False, description="Whether it can put a question to its user.")
    envelope: EnvelopeName = Field(default="tool_result", description="The form of results that it reads.")
    verification: Verification = Field(
        default="writes", description="Whose results are read back: those of writing tools, or of all."
    )
