"""What calls, plans and sessions may cost. Every bound has one direction in which it tightens; negotiation only ever goes that way."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]


class Bounds(BaseModel):
    """Base: every field is a number of which the smaller one is the stricter one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Limits(Bounds):
    """How much may come at once."""

    calls_at_once: Annotated[int, Field(ge=1, le=64)] = Field(
        default=64, description="Operations of a plan that may be on their way to Blender together."
    )
    payload_bytes: Annotated[int, Field(ge=1024, le=64 * 2**20)] = Field(
        default=64 * 2**20, description="The arguments of one call, as JSON."
    )
    operations_per_plan: Count = Field(default=1_000_000, description="Operations of one plan.")
    python_code_chars: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=20_000, description="Characters of one piece of Python code."
    )


class Costs(Bounds):
    """What work may cost."""

    call_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(default=30.0, description="Deadline of one call.")
    run_seconds: Seconds = Field(default=3600.0, description="Deadline of one run of a plan.")
    memory_mb: Annotated[int, Field(ge=6144)] = Field(
        default=16_384, description="Address space of a Blender process; it needs 6 GB to start."
    )
    scratch_mb: Annotated[int, Field(ge=64)] = Field(
        default=4096, description="What one Blender process may have in its scratch directory."
    )
    vertices: Count = Field(
        default=10_000_000, description="Vertices that the arguments of one call may ask for, where they tell."
    )


class LimitsAsked(Bounds):
    """Limits that a host asks for; what it leaves out is as the policy has it."""

    calls_at_once: Count | None = None
    payload_bytes: Annotated[int, Field(ge=1024)] | None = None
    operations_per_plan: Count | None = None
    python_code_chars: Count | None = None


class CostsAsked(Bounds):
    """Costs that a host asks for; what it leaves out is as the policy has it."""

    call_seconds: Seconds | None = None
    run_seconds: Seconds | None = None
    memory_mb: Annotated[int, Field(ge=6144)] | None = None
    scratch_mb: Annotated[int, Field(ge=64)] | None = None
    vertices: Count | None = None


B = TypeVar("B", bound=Bounds)


def tightened(held: B, *asked: dict[str, Any]) -> B:
    """The same bounds, each as low as the lowest that is asked for. Nothing can raise one; null and unknown names ask for nothing."""
    lowest = {
        name: min([value, *(wish[name] for wish in asked if wish.get(name) is not None)])
        for name, value in held.model_dump().items()
    }
    return held.model_validate(lowest)
