"""A catalogue of assets on another machine: a protocol, and one provider that reads a JSON document over HTTP.

Blendwright uses a catalogue only if the user's settings name one and the policy allows the network. The server is not trusted:
- Sizes are limited during the download.
- The content must have the hash and the file format that the catalogue promises.
- File names must be plain.
- Blendwright checks every address before it connects, also after a redirect. A catalogue must not reach services that only this
  machine can reach.
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
from typing import Any, Protocol, cast
from urllib.parse import SplitResult, urljoin, urlsplit

import orjson

from blendwright.tools.asset.origin import Origin, from_words
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Timeout of one socket operation, in seconds.
SOCKET_TIMEOUT_SECONDS = 30.0
MAX_REDIRECTS = 3
# Limits of a catalogue's document: its size in bytes and its number of assets.
MAX_CATALOGUE_BYTES, MAX_ASSETS = 8 << 20, 10_000
# Supported file formats, each with the bytes that such a file begins with. Formats without a signature are not supported.
SIGNATURES: Mapping[str, tuple[bytes, ...]] = {
    ".glb": (b"glTF",),
    ".blend": (b"BLENDER", b"\x28\xb5\x2f\xfd"),
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".exr": (b"\x76\x2f\x31\x01",),
    ".hdr": (b"#?RADIANCE", b"#?RGBE"),
}
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,127}")
POINTER = "/asset"


@dataclass(frozen=True, slots=True)
class OnlineAsset:
    """An asset that a catalogue offers, with its size in bytes and the SHA-256 of its content."""

    id: str
    url: str
    file_name: str
    sha256: str
    bytes: int
    origin: Origin

    def to_json(self) -> dict[str, Any]:
        origin_fields = {
            name: getattr(self.origin, name)
            for name in ("name", "description", "author", "license", "source", "copyright")
        }
        document = {"id": self.id, "sha256": self.sha256, "bytes": self.bytes, "tags": list(self.origin.tags)}
        return document | origin_fields


class OnlineCatalogue(Protocol):
    """The operations of a provider of assets. Both methods raise Refusal."""

    def assets(self) -> Sequence[OnlineAsset]:
        """Return all assets that the catalogue offers."""
        ...

    def download(self, asset: OnlineAsset, target: Path) -> None:
        """Write an asset to a new file and check its hash. On failure, leave no file."""
        ...


@dataclass(frozen=True, slots=True)
class HttpCatalogue:
    """A catalogue in a JSON document: `{"assets": [{"id", "file", "sha256", "bytes", "name", "license", "author", "source", "tags"}]}`.

    Each `file` is an address, which may be relative to the address of the document. Plain HTTP is allowed only for the host that the
    settings name; every other address must use HTTPS."""

    url: str
    most_bytes: int = 512 << 20
    most_seconds: float = 600.0
    """The time limit of one download including its redirects. It stops a server that sends single bytes forever."""

    def assets(self) -> Sequence[OnlineAsset]:
        data = b"".join(self._read(self.url, MAX_CATALOGUE_BYTES))
        try:
            offered: Any = orjson.loads(data)["assets"]
            entries: list[Any] = list(offered[:MAX_ASSETS])
        except (ValueError, KeyError, TypeError) as error:
            message = 'the catalogue is not a JSON document of the form {"assets": [...]}'
            raise _refused(Fault.EXECUTION_FAILED, message) from error

        assets: list[OnlineAsset] = []
        for entry in entries:
            if not isinstance(entry, dict):
                continue
            asset = self._asset(cast("dict[str, Any]", entry))
            if asset is not None:
                assets.append(asset)
        return assets

    def _asset(self, entry: Mapping[str, Any]) -> OnlineAsset | None:
        """Return the asset of a catalogue entry, or None when the entry lacks an id, a file, a hash or a size."""
        id, file, digest, size = entry.get("id"), entry.get("file"), entry.get("sha256"), entry.get("bytes")
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
        suffix = Path(asset.file_name).suffix.lower()
        if not PLAIN_NAME.fullmatch(asset.file_name) or ".." in asset.file_name:
            message = f"the catalogue uses {asset.file_name[:100]!r} as a file name, which is not a plain name"
            raise _refused(Fault.POLICY_BLOCKED, message)
        if suffix not in SIGNATURES:
            supported = ", ".join(sorted(SIGNATURES))
            message = f"'{asset.file_name}' has an unsupported format; supported are {supported}"
            raise _refused(Fault.POLICY_BLOCKED, message)
        if asset.bytes > self.most_bytes:
            raise _too_large(asset.bytes, self.most_bytes)

        digest, first_bytes, length = hashlib.sha256(), b"", 0
        try:
            with target.open("xb") as output:
                for part in self._read(asset.url, min(asset.bytes, self.most_bytes)):
                    if len(first_bytes) < 16:
                        first_bytes += part[:16]
                    length += len(part)
                    digest.update(part)
                    output.write(part)
            if length != asset.bytes or digest.hexdigest() != asset.sha256:
                message = "the downloaded file is not the one that the catalogue promises: its size or hash differs"
                raise _refused(Fault.EXECUTION_FAILED, message)
            if not first_bytes.startswith(SIGNATURES[suffix]):
                message = f"the content of '{asset.file_name}' is not a {suffix} file"
                raise _refused(Fault.EXECUTION_FAILED, message)
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def _read(self, url: str, max_bytes: int) -> Iterator[bytes]:
        """Yield the content of an address in parts. Raise Refusal if it exceeds `max_bytes` or if the policy forbids the address."""
        """The content at an address, part by part. Raises Refusal where it is more than `most`, or nowhere that may be reached."""
        deadline = monotonic() + self.most_seconds
        for _ in range(MAX_REDIRECTS + 1):
            connection, parts = self._connection(url)
            answer: http.client.HTTPResponse | None = None
            watch = threading.Timer(max(0.0, deadline - monotonic()), connection.break_off)
            watch.daemon = True
            watch.start()
            try:
                path = parts.path or "/"
                if parts.query:
                    path += f"?{parts.query}"
                connection.request("GET", path, headers={"Accept-Encoding": "identity", "User-Agent": "blendwright"})
                answer = connection.getresponse()
                if answer.status in (301, 302, 303, 307, 308):
                    url = _joined(url, answer.getheader("Location") or "")
                    continue
                if answer.status != 200:
                    message = f"{parts.hostname} answered with HTTP status {answer.status}"
                    raise _refused(Fault.EXECUTION_FAILED, message)
                if (answer.length or 0) > max_bytes:
                    raise _too_large(answer.length or 0, max_bytes)
                total = 0
                while part := answer.read1(1 << 16):
                    total += len(part)
                    if total > max_bytes:
                        raise _too_large(total, max_bytes)
                    yield part
                if monotonic() >= deadline:
                    raise _too_slow(parts.hostname, self.most_seconds)
                return
            except (OSError, http.client.HTTPException) as error:
                if monotonic() >= deadline:
                    raise _too_slow(parts.hostname, self.most_seconds) from error
                message = f"cannot read from {parts.hostname}: {error or type(error).__name__}"
                raise _refused(Fault.EXECUTION_FAILED, message) from error
            finally:
                watch.cancel()
                if answer is not None:
                    answer.close()
                connection.close()
        raise _refused(Fault.EXECUTION_FAILED, f"the server redirects more than {MAX_REDIRECTS} times")

    def _connection(self, url: str) -> tuple[_PinnedConnection, SplitResult]:
        """Return a connection to the host of an allowed address, and the parts of the address. Raise Refusal for other addresses.

        The connection uses the IP address that this method checked, so a later change in the name service has no effect."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise _refused(Fault.POLICY_BLOCKED, f"{url[:200]!r} is not a valid address") from error
        settings_url = urlsplit(self.url)
        settings_host = (settings_url.scheme, settings_url.hostname, settings_url.port)
        configured = (parts.scheme, parts.hostname, port) == settings_host
        if not parts.hostname or parts.scheme not in ("https", "http") or (parts.scheme == "http" and not configured):
            raise _refused(Fault.POLICY_BLOCKED, f"{url[:200]!r} is not an https address")

        if not port:
            port = 443 if parts.scheme == "https" else 80
        try:
            addresses = [info[4][0] for info in socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)]
        except OSError as error:
            raise _refused(Fault.EXECUTION_FAILED, f"host {parts.hostname} not found") from error
        for address in addresses:
            if not configured and not ipaddress.ip_address(str(address).partition("%")[0]).is_global:
                message = f"{parts.hostname} is {address}, a private address, which a catalogue must not use"
                raise _refused(Fault.POLICY_BLOCKED, message)
        return _PinnedConnection(parts.scheme, parts.hostname, str(addresses[0]), port), parts


class _PinnedConnection(http.client.HTTPConnection):
    """An HTTP connection to a host at an IP address that the caller chose."""

    def __init__(self, scheme: str, host: str, address: str, port: int) -> None:
        super().__init__(host, port, timeout=SOCKET_TIMEOUT_SECONDS)
        self._secure = scheme == "https"
        self._address = address
        self._raw: socket.socket | None = None
        self._broken_off = False

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), SOCKET_TIMEOUT_SECONDS)
        # A second handle of the same connection, which stays open when the first one is wrapped or closed.
        self._raw = self.sock.dup()
        if self._broken_off:
            self.break_off()
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def break_off(self) -> None:
        """Shut the connection down from another thread, so that a thread blocked on it continues with an error."""
        self._broken_off = True
        if self._raw is not None:
            with contextlib.suppress(OSError):
                self._raw.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        if self._raw is not None:
            self._raw.close()


def _joined(base: str, url: str) -> str:
    """Return an address relative to another one. Return an invalid address unchanged; `_connection` refuses it later."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def _refused(fault: Fault, message: str) -> Refusal:
    fix = "Choose another asset, or another catalogue in [assets.online] of blendwright.toml."
    return Refusal([Finding(fault, message, POINTER, fix)])


def _too_slow(host: str | None, seconds: float) -> Refusal:
    return _refused(Fault.TOOL_TIMEOUT, f"{host} did not send the complete content within {seconds:g} seconds")


def _too_large(size: int, max_bytes: int) -> Refusal:
    message = f"the content has at least {size} bytes, and the limit is {max_bytes}"
    fix = "Choose a smaller asset, or raise max_mb in [assets.online] of blendwright.toml."
    return Refusal([Finding(Fault.LIMIT_EXCEEDED, message, POINTER, fix)])
