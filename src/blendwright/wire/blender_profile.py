"""What a Blender says about itself, and about the process that it runs in."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# Of the fingerprint: raised whenever the same scene gets another hash.
FINGERPRINT_METHOD = 3

Transport = Literal["in_process", "command_line", "stdio", "http"]
Word = Annotated[str, Field(min_length=1, max_length=200)]


def hash_scheme(version: Sequence[int]) -> str:
    """How hashes begin that this blendwright makes with a Blender: those of other methods and Blenders cannot be compared with them."""
    major, minor = version[:2]
    return f"bw{FINGERPRINT_METHOD}:{major}.{minor}"


class BlenderProfile(BaseModel):
    """One Blender, whatever process it runs in."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

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
