"""What a host says about itself: who calls, over what, and what it can take; and how what several places say of it becomes one profile."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from blendwright.tool_api.promises import Determinism, strictest

Transport = Literal["in_process", "command_line", "stdio", "http"]
EnvelopeName = Literal["tool_result", "core"]
# From the weakest to the strictest: results of writing tools are read back, or those of all tools.
Verification = Literal["writes", "all"]
# Where a value can come from. `policy` and `default` are what a host finds; the others speak for it.
Source = Literal["default", "policy", "host profile", "flag", "initialize", "call"]
Word = Annotated[str, Field(min_length=1, max_length=200)]
Bytes = Annotated[int, Field(ge=1024)]
Seconds = Annotated[float, Field(gt=0)]


class _Stated(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class HostLimits(_Stated):
    """What a host can take, as one place says it: its own capabilities, a file, flags, or a call. Null says nothing."""

    payload_bytes: Bytes | None = Field(default=None, description="The largest message that the host takes or sends.")
    call_seconds: Seconds | None = Field(default=None, description="How long it waits for the answer to one call.")
    streaming: bool | None = Field(default=None, description="Whether it takes an answer in parts.")
    cancellation: bool | None = Field(default=None, description="Whether it can call off a call that runs.")
    envelope: EnvelopeName | None = Field(default=None, description="The form of results that it reads.")
    determinism: Determinism | None = Field(default=None, description="The weakest class of results that it accepts.")
    verification: Verification | None = Field(default=None, description="Whose results are read back.")


@dataclass(frozen=True, slots=True)
class HostStatement:
    """What one place says about a host."""

    source: Source
    limits: HostLimits


# Under which names of the contract each of them is found.
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
    """The strictest of what is said. The form of results is no limit: there the last one has the word."""
    said: dict[str, list[Any]] = {name: list(_values(statements, name)) for name in HostLimits.model_fields}
    return HostLimits(
        payload_bytes=min(said["payload_bytes"], default=None),
        call_seconds=min(said["call_seconds"], default=None),
        streaming=min(said["streaming"], default=None),
        cancellation=min(said["cancellation"], default=None),
        envelope=said["envelope"][-1] if said["envelope"] else None,
        determinism=strictest(*said["determinism"]),
        verification=max(said["verification"], key=get_args(Verification).index, default=None),
    )


def stated_sources(statements: Sequence[HostStatement], agreed: Mapping[str, Any]) -> dict[str, Source]:
    """Who said what was agreed, by its name in the contract; what nobody said, or the policy has stricter, is not among them."""
    found: dict[str, Source] = {}
    for field, names in CONTRACT_NAMES.items():
        for statement in statements:
            value = getattr(statement.limits, field)
            for name in names:
                if value is not None and value == agreed[name]:
                    found[name] = statement.source
    return found


def _values(statements: Iterable[HostStatement], name: str) -> Iterable[Any]:
    return (value for one in statements if (value := getattr(one.limits, name)) is not None)


class HostProfile(_Stated):
    """Who calls, over what, and what it can take."""

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
