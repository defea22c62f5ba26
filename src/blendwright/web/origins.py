"""Which names a server on one address answers to, and the pages of which origins may use it: what keeps other pages of a browser out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Names:
    """The values that the headers Host and Origin may have."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, host: str, port: int) -> Names:
        """Those of loopback, and the host that is listened on."""
        names = sorted({*LOOPBACK, host})
        return cls(tuple(f"{name}:{port}" for name in names), tuple(f"http://{name}:{port}" for name in names))

    def refused(self, headers: dict[str, str]) -> Literal["host", "origin"] | None:
        """Which of the two is not one of ours. Programs send no Origin; a page always does where it matters."""
        if headers.get("host") not in self.hosts:
            return "host"
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return "origin"
        return None
