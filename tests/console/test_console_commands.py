"""`blendwright ui` and `serve --ui` as processes: the link, the page behind it, and an orderly end."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from blendwright.journal import Journal
from journal.ledger import baseline, chain

BLENDWRIGHT = (sys.executable, "-m", "blendwright")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    journal = Journal(tmp_path / "workspace")
    journal.commit([baseline(), *chain(["a"])])
    journal.close()
    return tmp_path / "workspace"


@contextlib.contextmanager
def started(*command: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The process, and the link that it shows."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*BLENDWRIGHT, *command], text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stderr is not None
            said = ""
            while (found := re.search(r"(http://\S+)#link=(\S+)", said)) is None:
                line = process.stderr.readline()
                assert line, said
                said += line
            yield process, found[0]
        finally:
            process.kill()


def entered(link: str) -> httpx2.Response:
    address, _, secret = link.partition("#link=")
    return httpx2.post(f"{address}api/session", json={"link": secret}, headers={"Origin": address.rstrip("/")})


def test_the_link_opens_the_page_once_and_a_signal_ends_it_in_order(workspace: Path) -> None:
    with started("ui", str(workspace), "--no-open") as (process, link):
        first = entered(link)
        assert first.status_code == 200
        assert first.json()["workspaces"][0]["name"] == "workspace"
        assert entered(link).status_code == 401
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_console_beside_a_server_ends_with_it(workspace: Path) -> None:
    with started("serve", "--ui", "--workspace", str(workspace)) as (process, link):
        told = entered(link)
        assert told.status_code == 200
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(link)


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    command = [*BLENDWRIGHT, "ui", "nowhere", "--no-open"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert "is not a workspace" in " ".join(done.stderr.split())
