"""A real server process on a loopback port, and clients for it."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import httpx2

TOKEN = "a-token-for-tests"
WHOLE_COMMAND = [sys.executable, "-m", "blendwright", "serve"]
# For tests that lose no worker.
COMMAND = [sys.executable, "-P", str(Path(__file__).with_name("lean_server.py")), "serve"]


@contextlib.contextmanager
def http_server(place: Path) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*COMMAND, "--http", f"127.0.0.1:{port}"]
    environment = {**os.environ, "BLENDWRIGHT_TOKEN": TOKEN}
    with subprocess.Popen(command, env=environment, cwd=place, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            said = ""
            while (found := re.search(r"serving (http://\S+)", said)) is None:
                line = process.stderr.readline().decode()
                assert line, said
                said += line
            anyio.run(_reachable, found[1])
            yield found[1], process
        finally:
            process.kill()


async def _reachable(url: str) -> None:
    async with httpx2.AsyncClient() as web:
        for _ in range(2000):
            try:
                await web.get(url)
                return
            except httpx2.ConnectError:
                await anyio.sleep(0.05)
    raise AssertionError("the server did not come up")


def web_client(**headers: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}", **headers}, timeout=60)
