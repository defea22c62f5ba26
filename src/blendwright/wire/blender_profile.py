"""The properties that a Blender and its process report."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# The version of the fingerprint, raised whenever the same scene gets another hash.
FINGERPRINT_METHOD = 3

Transport = Literal["in_process", "command_line", "stdio", "http"]
Word = Annotated[str, Field(min_length=1, max_length=200)]


def hash_scheme(version: Sequence[int]) -> str:
    """Return the prefix of the hashes that this blendwright makes with a Blender version. Hashes with different
    prefixes are not comparable.
    """
    major, minor = version[:2]
    return f"bw{FINGERPRINT_METHOD}:{major}.{minor}"


class BlenderProfile(BaseModel):
    """The properties of one Blender, independent of its process."""

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
    """The longest name of a datablock in bytes of UTF-8."""
    confinement: dict[str, Any]
    """The confinement of the worker, field by field as it reported it."""
    python: str


class WorkerProfile(BlenderProfile):
    """The profile that a worker sends in the handshake, with the properties of its process."""

    pid: int
    memory_mb: float | None = None
    """The resident memory of the idle worker in MB, or None if the system does not report it."""

    @property
    def lasting(self) -> BlenderProfile:
        """Return the part of the profile that is the same for every worker of this Blender."""
        return BlenderProfile(**{name: getattr(self, name) for name in BlenderProfile.model_fields})
