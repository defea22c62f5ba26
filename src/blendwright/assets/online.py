"""A catalogue of assets on another machine: a port, and one provider that reads a JSON document over HTTP.

Off unless the user's own settings name one and the policy allows the network. Nothing that a server says is believed: sizes are bounded
while they are read, the content must have the hash and the form that the catalogue promises, names are plain, and addresses are
looked at before anything is connected to, also those that a redirect leads to: a catalogue must not reach what only this machine can.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, Protocol
from urllib.parse import SplitResult, urljoin, urlsplit

import orjson

from blendwright.tools.asset.origin import Origin, from_words
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

SECONDS = 30.0
MOST_REDIRECTS = 3
MOST_CATALOGUE, MOST_ASSETS = 8 << 20, 10_000
# Forms that can be used, and how such a file begins; what comes without a mark of its own is not taken.
SIGNATURES: Mapping[str, tuple[bytes, ...]] = {
    ".glb": (b"glTF",),
    ".blend": (b"BLENDER", b"\x28\xb5\x2f\xfd"),
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".exr": (b"\x76\x2f\x31\x01",),
    ".hdr": (b"#?RADIANCE", b"#?RGBE"),
}
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,127}")
AT = "/asset"


@dataclass(frozen=True, slots=True)
class OnlineAsset:
    """One asset that a catalogue offers."""

    id: str
    url: str
    file_name: str
    sha256: str
    bytes: int
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        texts = {
            name: getattr(self.origin, name)
            for name in ("name", "description", "author", "license", "source", "copyright")
        }
        return {"id": self.id, "sha256": self.sha256, "bytes": self.bytes, "tags": list(self.origin.tags), **texts}


class OnlineCatalogue(Protocol):
    """What a provider of assets can do. Both raise Refusal."""

    def assets(self) -> Sequence[OnlineAsset]:
        """All that it offers."""
        ...

    def download(self, asset: OnlineAsset, target: Path) -> None:
        """Write one to a new file, whole and proven, or nothing."""
        ...


@dataclass(frozen=True, slots=True)
class HttpCatalogue:
    """A JSON document: `{"assets": [{"id", "file", "sha256", "bytes", "name", "license", "author", "source", "tags"}]}`, each `file` an
    address, from that of the document on. Plain HTTP is for a host of this machine that the settings name; all else is HTTPS."""

    url: str
    most_bytes: int = 512 << 20
    most_seconds: float = 600.0
    """For one document with all that leads to it: a server that sends a byte now and then is never silent for long."""

    def assets(self) -> Sequence[OnlineAsset]:
        data = b"".join(self._read(self.url, MOST_CATALOGUE))
        try:
            listed: Any = orjson.loads(data)["assets"]
            entries: list[Any] = [entry for entry in listed[:MOST_ASSETS] if isinstance(entry, dict)]
        except (ValueError, KeyError, TypeError) as error:
            raise _refused(Fault.EXECUTION_FAILED, "the catalogue is not the document that it should be") from error
        return [asset for entry in entries if (asset := self._asset(entry)) is not None]

    def _asset(self, entry: Mapping[str, Any]) -> OnlineAsset | None:
        """None for an entry without what is needed to prove it."""
        id, file, digest, size = (entry.get(name) for name in ("id", "file", "sha256", "bytes"))
        if not (isinstance(id, str) and isinstance(file, str) and isinstance(digest, str) and isinstance(size, int)):
            return None
        try:
            name = urlsplit(file).path.rpartition("/")[2]
        except ValueError:
            return None
        origin = from_words(entry)
        if not origin.source:
            origin = replace(origin, source=_joined(self.url, file))
        return OnlineAsset(id[:200], _joined(self.url, file), name, digest.lower(), size, origin)

    def download(self, asset: OnlineAsset, target: Path) -> None:
        ending = Path(asset.file_name).suffix.lower()
        if not PLAIN_NAME.fullmatch(asset.file_name) or ".." in asset.file_name:
            raise _refused(
                Fault.POLICY_BLOCKED, f"the catalogue names a file that is no plain name: {asset.file_name[:100]!r}"
            )
        if ending not in SIGNATURES:
            known = ", ".join(sorted(SIGNATURES))
            raise _refused(
                Fault.POLICY_BLOCKED, f"'{asset.file_name}' is of a form that is not downloaded; known are {known}"
            )
        if asset.bytes > self.most_bytes:
            raise _too_large(asset.bytes, self.most_bytes)
        found, begins, length = hashlib.sha256(), b"", 0
        try:
            with target.open("xb") as written:
                for part in self._read(asset.url, min(asset.bytes, self.most_bytes)):
                    if not (len(begins) >= 16):
                        begins = begins + part[:16]
                    length += len(part)
                    found.update(part)
                    written.write(part)
            if length != asset.bytes or found.hexdigest() != asset.sha256:
                raise _refused(
                    Fault.EXECUTION_FAILED,
                    "what was downloaded is not what the catalogue promises: its hash is another one",
                )
            if not begins.startswith(SIGNATURES[ending]):
                raise _refused(
                    Fault.EXECUTION_FAILED, f"what was downloaded is no {ending} file, whatever its name says"
                )
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def _read(self, url: str, most: int) -> Iterator[bytes]:
        """The content at an address, part by part. Raises Refusal where it is more than `most`, or nowhere that may be reached."""
        ends = monotonic() + self.most_seconds
        for _ in range(MOST_REDIRECTS + 1):
            connection, parts = self._connected(url)
            answer: http.client.HTTPResponse | None = None
            watch = threading.Timer(max(0.0, ends - monotonic()), connection.break_off)
            watch.daemon = True
            watch.start()
            try:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", path, headers={"Accept-Encoding": "identity", "User-Agent": "blendwright"})
                answer = connection.getresponse()
                if answer.status in (301, 302, 303, 307, 308):
                    url = _joined(url, answer.getheader("Location") or "")
                    continue
                if answer.status != 200:
                    raise _refused(Fault.EXECUTION_FAILED, f"{parts.hostname} answered with {answer.status}")
                if (answer.length or 0) > most:
                    raise _too_large(answer.length or 0, most)
                total = 0
                while part := answer.read1(1 << 16):
                    total += len(part)
                    if total > most:
                        raise _too_large(total, most)
                    yield part
                if monotonic() >= ends:
                    raise _too_slow(parts.hostname, self.most_seconds)
                return
            except (OSError, http.client.HTTPException) as error:
                if monotonic() >= ends:
                    raise _too_slow(parts.hostname, self.most_seconds) from error
                raise _refused(
                    Fault.EXECUTION_FAILED, f"{parts.hostname} cannot be read from: {error or type(error).__name__}"
                ) from error
            finally:
                watch.cancel()
                if answer is not None:
                    answer.close()
                connection.close()
        raise _refused(Fault.EXECUTION_FAILED, f"the address leads on more than {MOST_REDIRECTS} times")

    def _connected(self, url: str) -> tuple[_Pinned, SplitResult]:
        """A connection to an address that may be reached: to the very one that was looked at, whatever its name means a moment later."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise _refused(Fault.POLICY_BLOCKED, "the address cannot be read") from error
        own = urlsplit(self.url)
        configured = (parts.scheme, parts.hostname, port) == (own.scheme, own.hostname, own.port)
        if not parts.hostname or parts.scheme not in ("https", "http") or (parts.scheme == "http" and not configured):
            raise _refused(Fault.POLICY_BLOCKED, f"{url[:200]!r} is no https address")
        port = port or (443 if parts.scheme == "https" else 80)
        try:
            addresses = [each[4][0] for each in socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)]
        except OSError as error:
            raise _refused(Fault.EXECUTION_FAILED, f"there is no host {parts.hostname}") from error
        for address in addresses:
            if not configured and not ipaddress.ip_address(str(address).partition("%")[0]).is_global:
                message = f"{parts.hostname} is {address}, a private address, which a catalogue does not lead to"
                raise _refused(Fault.POLICY_BLOCKED, message)
        return _Pinned(parts.scheme, parts.hostname, str(addresses[0]), port), parts


class _Pinned(http.client.HTTPConnection):
    """Speaks with a host at an address that was chosen before."""

    def __init__(self, scheme: str, host: str, address: str, port: int) -> None:
        super().__init__(host, port, timeout=SECONDS)
        self._secure = scheme == "https"
        self._address = address
        self._raw: socket.socket | None = None
        self._broken_off = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), SECONDS)
        # Another object for the same connection, which stays when the first one is wrapped or closed.
        self._raw = self.sock.dup()
        if self._broken_off:
            self.break_off()
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def break_off(self) -> None:
        """From another thread: whoever waits for this connection is answered with its end."""
        self._broken_off = True
        if self._raw is not None:
            with contextlib.suppress(OSError):
                self._raw.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        if self._raw is not None:
            self._raw.close()


def _joined(base: str, url: str) -> str:
    """An address as seen from another one; what cannot be read is refused where it is to be connected to."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def _refused(fault: Fault, message: str) -> Refusal:
    cure = "Choose another asset, or another catalogue in [assets.online] of blendwright.toml."
    return Refusal([Finding(fault, message, AT, cure)])


def _too_slow(host: str | None, seconds: float) -> Refusal:
    return _refused(Fault.TOOL_TIMEOUT, f"{host} did not send all of it within {seconds:g} seconds")


def _too_large(size: int, most: int) -> Refusal:
    message = f"it has {size} bytes or more, and {most} are allowed"
    cure = "Choose a smaller one, or raise max_mb in [assets.online] of blendwright.toml."
    return Refusal([Finding(Fault.LIMIT_EXCEEDED, message, AT, cure)])
