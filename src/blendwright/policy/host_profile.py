"""What a host says about itself: who calls, over what, and what it can take."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Transport = Literal["in_process", "command_line", "stdio", "http"]
Word = Annotated[str, Field(min_length=1, max_length=200)]


class HostProfile(BaseModel):
    """Who calls, over what, and what it can take."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    name: Word = Field(default="blendwright", description="The host's own name.")
    version: Word = Field(default="1", description="The host's own version.")
    transport: Transport = Field(default="in_process", description="How calls and answers travel.")
    payload_bytes: int | None = Field(
        default=None,
        ge=1024,
        description="The largest message that the host takes or sends; null where it has no limit.",
    )
    call_seconds: float | None = Field(
        default=None,
        gt=0,
        description="How long the host waits for the answer to one call; null where it has no limit.",
    )
    streaming: bool = Field(default=False, description="Whether it takes an answer in parts.")
    cancellation: bool = Field(default=False, description="Whether it can call off a call that runs.")
    elicitation: bool = Field(default=False, description="Whether it can put a question to its user.")
