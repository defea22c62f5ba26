"""What the two sides of a session say about themselves: the host that calls, and the Blender that does the work."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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


class BlenderProfile(BaseModel):
    """One Blender, whatever process it runs in."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: tuple[int, int, int]
    version_string: str
    build_hash: str
    platform: str
    background: bool
    """True without a user interface."""
    engines: tuple[str, ...]
    features: dict[str, bool]
    name_bytes: int
    """How long a datablock's name may be, in bytes of UTF-8."""
    confinement: dict[str, Any]
    """What holds the worker in, field by field, as the confinement reported it."""
    python: str


class WorkerProfile(BlenderProfile):
    """A Blender as it announced itself in the handshake, with what is true of its process only."""

    pid: int
    memory_mb: float | None = None
    """Resident memory of the idle worker, where the system tells."""

    @property
    def lasting(self) -> BlenderProfile:
        """What holds for every worker of this Blender."""
        return BlenderProfile(**{name: getattr(self, name) for name in BlenderProfile.model_fields})
