"""The host names and page origins that a server accepts, so that foreign pages in a browser cannot use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Names:
    """The accepted values of the headers Host and Origin."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, host: str, port: int) -> Names:
        """Return the names of the loopback interface and of the host that the server listens on."""
        names = sorted({*LOOPBACK, host})
        return cls(tuple(f"{name}:{port}" for name in names), tuple(f"http://{name}:{port}" for name in names))

    def refused(self, headers: dict[str, str]) -> Literal["host", "origin"] | None:
        """Return the header that is not accepted, or None. Programs send no Origin; browsers send it with every relevant request."""
        if headers.get("host") not in self.hosts:
            return "host"
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return "origin"
        return None
