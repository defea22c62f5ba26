"""A catalogue on another machine: off by default, and believed in nothing."""

from __future__ import annotations

import hashlib
import json
import queue
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.assets.online import HttpCatalogue
from blendwright.policy.policy import AssetSettings, OnlineAssets, Policy, Rules
from blendwright.values.errors import Refusal


def glb() -> bytes:
    """A triangle."""
    positions = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "Tri"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", 36, 0x004E4942) + positions
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


TRIANGLE = glb()
HASH = hashlib.sha256(TRIANGLE).hexdigest()


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        shop: Any = self.server
        shop.asked.append(self.path)
        found = shop.pages.get(self.path)
        if isinstance(found, str):
            self.send_response(302)
            self.send_header("Location", found)
            self.end_headers()
            return
        if self.path.startswith("/dripping"):
            self.drip(found or b"")
            return
        self.send_response(200 if found is not None else 404)
        if not self.path.startswith("/endless"):
            self.send_header("Content-Length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def drip(self, content: bytes) -> None:
        """Byte by byte, never silent for long; far from the end when a client has had enough, which ends it."""
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(content)
        answer += b"X-Filler: " + b"x" * 200 + b"\r\n\r\n" if self.path.endswith(".head") else b"\r\n" + content
        server: Any = self.server
        for at in range(len(answer)):
            try:
                self.wfile.write(answer[at : at + 1])
            except OSError:
                server.ended.put("broken off")
                return
            time.sleep(0.03)
        server.ended.put("sent")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[Any]:
    """A server on this machine with pages: content, or where they lead to."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.pages, server.asked, server.ended = {}, [], queue.Queue[str]()
    server.url = f"http://127.0.0.1:{server.server_port}/assets.json"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def offer(shop: Any, *entries: dict[str, Any]) -> None:
    whole = {
        "id": "tri",
        "file": "files/tri.glb",
        "sha256": HASH,
        "bytes": len(TRIANGLE),
        "license": "CC0",
        "author": "Jo",
    }
    shop.pages["/assets.json"] = json.dumps({"assets": [{**whole, **entry} for entry in entries]}).encode()
    shop.pages["/files/tri.glb"] = TRIANGLE


def called(scene: blendwright.OpenScene, tool: str, **args: Any) -> Any:
    """The result of a call, or its first finding."""
    answer = scene.call(tool, **args)
    return answer.result if answer.ok else answer.details["findings"][0]


def refused(catalogue: HttpCatalogue, target: Path) -> str:
    (asset,) = catalogue.assets()
    with pytest.raises(Refusal) as told:
        catalogue.download(asset, target)
    assert not target.exists(), "nothing is left of it"
    (finding,) = told.value.findings
    assert finding.cure and finding.pointer == "/asset"
    return f"{finding.fault} {finding.message}"


def test_an_asset_is_downloaded_proven_and_added_with_its_licence(shop: Any, tmp_path: Path) -> None:
    offer(shop, {})
    online = OnlineAssets(url=shop.url)
    policy = Policy(policy=Rules(network="allow"), assets=AssetSettings(online=online))
    target = tmp_path / "got" / "tri.glb"
    with blendwright.open(tmp_path / "w", roots=[tmp_path], policy=policy, spare=False) as scene:
        assert "'tri'" in called(scene, "asset.fetch", asset="try", path=str(target))["cure"]
        assert called(scene, "asset.fetch", asset="tri", path=str(tmp_path / "tri.blend"))["pointer"] == "/path"
        fetched = called(scene, "asset.fetch", asset="tri", path=str(target))
        assert target.read_bytes() == TRIANGLE and fetched["license"] == "CC0"
        assert json.loads((tmp_path / "got" / "tri.glb.json").read_text())["author"] == "Jo"
        assert scene.journal.log(limit=1)[0].receipt["result"]["source"].endswith("/files/tri.glb")
        assert called(scene, "asset.fetch", asset="tri", path=str(target))["code"] == "SCENE_CONFLICT"
        added = called(scene, "asset.add", asset=str(target))
        assert (added["objects"], added["license"], added["author"]) == (["Tri"], "CC0", "Jo")
        assert added["source"].endswith("/files/tri.glb")
        assert called(scene, "asset.fetch", asset="tri", path=str(tmp_path.parent / "tri.glb"))["pointer"] == "/path"


def test_without_the_users_word_nothing_is_asked_of_anybody(shop: Any, tmp_path: Path) -> None:
    offer(shop, {})
    named = Policy(assets=AssetSettings(online=OnlineAssets(url=shop.url)))
    with blendwright.open(tmp_path / "a", roots=[tmp_path], policy=named, spare=False) as scene:
        answer = scene.call("asset.fetch", asset="tri", path=str(tmp_path / "tri.glb"))
        assert not answer.ok and "reaches other machines" in answer.message
    with blendwright.open(
        tmp_path / "b", roots=[tmp_path], policy=Policy(policy=Rules(network="allow")), spare=False
    ) as scene:
        answer = scene.call("asset.fetch", asset="tri", path=str(tmp_path / "tri.glb"))
        assert not answer.ok and "no online catalogue" in answer.message
    assert shop.asked == []


@pytest.mark.parametrize(
    ("leads_to", "why"),
    [
        ("http://127.0.0.1:1/x.glb", "not an https address"),
        ("https://127.0.0.1:1/x.glb", "a private address"),
        ("https://localhost/x.glb", "a private address"),
        ("https://169.254.169.254/latest/meta-data", "a private address"),
        ("https://[::1]/x.glb", "a private address"),
        ("https://10.0.0.1/x.glb", "a private address"),
        ("https://2130706433/x.glb", "a private address"),
        ("file:///etc/passwd", "not an https address"),
        ("ftp://example.org/x.glb", "not an https address"),
        ("https://[broken/x.glb", "not a valid address"),
        ("/files/tri.glb", "redirects more than"),
    ],
)
def test_a_redirect_leads_to_no_private_address(shop: Any, tmp_path: Path, leads_to: str, why: str) -> None:
    offer(shop, {})
    shop.pages["/files/tri.glb"] = leads_to
    assert why in refused(HttpCatalogue(shop.url), tmp_path / "got")


def test_a_redirect_to_another_page_of_the_same_host_is_followed(shop: Any, tmp_path: Path) -> None:
    offer(shop, {"file": "elsewhere/tri.glb"})
    shop.pages["/elsewhere/tri.glb"] = "/files/tri.glb"
    catalogue = HttpCatalogue(shop.url)
    catalogue.download(catalogue.assets()[0], tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == TRIANGLE


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"sha256": "0" * 64}, "its size or hash differs"),
        ({"bytes": len(TRIANGLE) + 1}, "its size or hash differs"),
        ({"bytes": 100}, "LIMIT_EXCEEDED"),
        ({"bytes": 3 << 20}, "LIMIT_EXCEEDED"),
        ({"file": "files/..%2f..%2fevil.glb"}, "not a plain name"),
        ({"file": "files/.hidden.glb"}, "not a plain name"),
        ({"file": "files/a..b.glb"}, "not a plain name"),
        ({"file": "files/tri.exe"}, "an unsupported format"),
        ({"file": "files/tri.py"}, "an unsupported format"),
        ({"file": "files/tri.blend"}, "not a .blend file"),
        ({"file": "files/missing.glb"}, "HTTP status 404"),
        ({"file": "endless.glb", "bytes": 2000}, "LIMIT_EXCEEDED"),
        ({"file": "http://127.0.0.1:1/tri.glb"}, "not an https address"),
    ],
)
def test_what_is_not_what_was_promised_is_not_kept(shop: Any, tmp_path: Path, entry: dict[str, Any], why: str) -> None:
    offer(shop, entry)
    shop.pages["/files/tri.blend"] = TRIANGLE
    shop.pages["/endless.glb"] = TRIANGLE + bytes(200_000)
    assert why in refused(HttpCatalogue(shop.url, most_bytes=1 << 20), tmp_path / "got")


@pytest.mark.parametrize("ending", ["", ".head"])
def test_a_server_that_never_comes_to_an_end_is_left(shop: Any, ending: str) -> None:
    shop.pages[f"/dripping{ending}"] = json.dumps({"assets": []}).encode() + b" " * 100
    url = shop.url.replace("/assets.json", f"/dripping{ending}")
    with pytest.raises(Refusal, match=r"within 0\.3 seconds"):
        HttpCatalogue(url, most_seconds=0.3).assets()
    assert shop.ended.get(timeout=60) == "broken off"


@pytest.mark.parametrize(
    "page", [b"", b"[]", b"{}", b'{"assets": 3}', b"\xff\xfe", b'{"assets": [' + b"[" * 5000, bytes(9 << 20)]
)
def test_a_document_that_is_no_catalogue_is_refused(shop: Any, page: bytes) -> None:
    shop.pages["/assets.json"] = page
    with pytest.raises(Refusal):
        HttpCatalogue(shop.url).assets()


def test_entries_without_a_hash_or_a_size_are_left_out_and_words_are_cut(shop: Any) -> None:
    offer(
        shop,
        {"sha256": None},
        {"bytes": "12"},
        {"id": 3},
        {"id": "good", "author": "A" * 9000, "tags": [1, "wood", ""]},
    )
    (asset,) = HttpCatalogue(shop.url).assets()
    assert asset.id == "good" and len(asset.origin.author) == 500 and asset.origin.tags == ("wood",)


@pytest.mark.parametrize(
    "url", ["http://example.org/a.json", "ftp://example.org/a", "file:///a.json", "http://localhost.evil.org/"]
)
def test_a_catalogue_is_read_over_https_or_from_this_machine(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        OnlineAssets(url=url)
