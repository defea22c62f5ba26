"""The button Open Console, with a real server and its console: the button requests a link, and a browser follows it."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import httpx2
import pytest

from blendwright.blender.window.console_page import write_console_page
from blendwright.window.attach import attach
from blendwright.window.connection.rendezvous import DIRECTORY
from window.playing import PlayedWindow

BLENDWRIGHT = (sys.executable, "-m", "blendwright")
REGISTER = (
    "import blendwright_extension\nif not hasattr(bpy.types, 'VIEW3D_PT_blendwright'): blendwright_extension.register()"
)
CORE = "importlib.import_module('blendwright_extension.open_window').this_window.session.status.core"
PRESS = "bpy.ops.blendwright.open_console()"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which the user's browser records its arguments, which every user of the machine could read."""
    noted, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$0 $@" >> {noted}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    return noted


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Path) -> Iterator[PlayedWindow]:
    played = PlayedWindow(tmp_path / "window")
    monkeypatch.setenv(DIRECTORY, str(played.windows))
    with played:
        played.do(f"{REGISTER}\nimport importlib", push=False)
        yield played


@contextlib.contextmanager
def served(workspace: Path) -> Generator[str]:
    """Run a server with its console in a separate process, and yield the link that it prints."""
    pipe = subprocess.PIPE
    command = [*BLENDWRIGHT, "serve", "--ui", "--workspace", str(workspace)]
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe) as process:
        try:
            assert process.stderr is not None and process.stdin is not None
            output = ""
            while (match := re.search(r"http://\S+#link=\S+", output)) is None:
                line = process.stderr.readline()
                assert line, output
                output += line
            yield match[0]
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()


def wait_for(path: Path, lines: int) -> list[str]:
    end = time.monotonic() + 30
    while not path.exists() or len(recorded := path.read_text().splitlines()) < lines:
        assert time.monotonic() < end, "nothing was opened"
        time.sleep(0.02)
    return recorded


def wait_for_core(window: PlayedWindow) -> None:
    end = time.monotonic() + 60
    while not window.ask(f"'console' in ({CORE} if session() else {{}})"):
        assert time.monotonic() < end, "the window was not told of a console"
        time.sleep(0.02)


def follow(address: str) -> httpx2.Response:
    """Follow a link as a browser does: read the file from the command line, follow the redirect, and send the link."""
    assert address.startswith("file:///")
    path = Path(url2pathname(urlsplit(address).path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.stat().st_uid == os.getuid()
    [link] = re.findall(r'href="([^"]+)"', path.read_text())
    page, _, secret = link.partition("#link=")
    led = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert httpx2.get(page, headers=led).status_code == 200
    return httpx2.post(f"{page}api/session", json={"link": secret}, headers={"Origin": page.rstrip("/")})


def test_the_button_opens_the_console_with_a_fresh_link_every_time(
    window: PlayedWindow, tmp_path: Path, opened: Path
) -> None:
    attach(tmp_path / "workspace")
    with served(tmp_path / "workspace") as shown:
        wait_for_core(window)
        address = shown.partition("#link=")[0]
        key = window.ask(f"{CORE}['console_key']")
        assert window.ask(f"{CORE}['console']") == address
        window.do(PRESS, push=False)
        [first] = wait_for(opened, 1)
        assert "link" not in first and key not in first, "every user of the machine can read this"
        entered = follow(first.split()[1])
        assert entered.status_code == 200 and entered.json()["workspaces"][0]["name"] == "workspace"
        assert follow(first.split()[1]).status_code == 401, "it was used"
        window.do(PRESS, push=False)
        [_, second] = wait_for(opened, 2)
        assert follow(second.split()[1]).status_code == 200, "another one is made for every press"
        # Whoever has the key of a window gets links, and nobody else; the key itself opens nothing.
        links, origin = f"{address}api/links", {"Origin": address.rstrip("/")}
        for headers in ({}, {"X-Window-Key": ""}, {"X-Window-Key": key[:-1] + "!"}, {"X-Window-Key": first}):
            assert httpx2.post(links, headers=origin | headers).status_code == 401
        assert httpx2.post(links, headers={"X-Window-Key": key}).status_code == 403
        assert httpx2.post(links, headers={"X-Window-Key": key, "Origin": "http://evil.example"}).status_code == 403
        assert httpx2.post(f"{address}api/session", json={"link": key}, headers=origin).status_code == 401
        page_path = Path(url2pathname(urlsplit(second.split()[1]).path))
        assert key not in "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    end = time.monotonic() + 30
    while page_path.exists():
        assert time.monotonic() < end, "the page stays when the core is gone"
        time.sleep(0.02)


def test_a_console_that_is_not_there_is_said(window: PlayedWindow, tmp_path: Path, opened: Path) -> None:
    from window.alone.core_client import CoreClient

    with CoreClient(window.note) as core:
        core.attached().call(
            "window.show",
            plans=[],
            running={},
            approvals=[],
            core={"console": "http://127.0.0.1:1/", "console_key": "k"},
        )
        with pytest.raises(AssertionError, match="The console cannot be opened"):
            window.do(PRESS, push=False)
    assert not opened.exists()


@pytest.mark.parametrize("address", ["https://127.0.0.1:1/", "http://elsewhere.example:1/", "http://127.0.0.1:1/x", ""])
def test_only_a_console_on_this_machine_is_asked(tmp_path: Path, address: str) -> None:
    with pytest.raises(OSError, match="not on this machine"):
        write_console_page(tmp_path, {"console": address, "console_key": "k"})
    assert list(tmp_path.iterdir()) == []
