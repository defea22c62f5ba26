"""python -m bench.soak [--minutes N] [--clients N] [--output FILE.json]: three clients on a real server with a real Blender.

Ends with 0 where everything was answered as it should be and, in a soak that is long enough, nothing grew; with 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import apsw

from bench.soak.clients import SoakClient
from bench.soak.probes import Sample, sample
from bench.soak.report import report, show
from bench.soak.rests import Rests

POLICY = '[policy.levels]\ndestructive = "allow"\n'
SAMPLES = 40
SHORTEST_BETWEEN, LONGEST_BETWEEN = 10.0, 60.0
# Connections that nobody uses are closed by the server after five seconds.
REST_SECONDS = 6.0
MOST_REST_SECONDS = 30.0


def main(minutes: float, clients: int, output: Path | None) -> int:
    with tempfile.TemporaryDirectory(prefix="soak-") as directory:
        place = Path(directory)
        workspace = place / "workspace"
        workspace.mkdir(mode=0o700)
        (workspace / "blendwright.toml").write_text(POLICY)
        token = secrets.token_hex(16)
        several = [SoakClient(number, place) for number in range(clients)]
        process, url = _serve(place, workspace, token)
        try:
            samples = anyio.run(_soak, process.pid, workspace, url, token, several, minutes)
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
        unexpected = [line for client in several for line in client.unexpected] + _left(place, workspace, code)
    done = dict(sum((client.done for client in several), Counter[str]()))
    document = report(samples, minutes, done, unexpected)
    show(document)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(document, indent=2) + "\n")
    return 1 if unexpected or document["ok"] is False else 0


def _serve(place: Path, workspace: Path, token: str) -> tuple[subprocess.Popen[str], str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-P", "-m", "blendwright", "serve", "--http", f"127.0.0.1:{port}", "--tools", "direct",
               "--workspace", str(workspace), "--root", str(place)]  # fmt: skip
    log = (place / "server.log").open("w")
    environment = {**os.environ, "BLENDWRIGHT_TOKEN": token}
    process = subprocess.Popen(command, env=environment, cwd=place, stderr=log, text=True)
    log.close()
    ends = monotonic() + 60
    while monotonic() < ends and process.poll() is None:
        found = re.search(r"serving (http://\S+)", (place / "server.log").read_text())
        if found is not None and _answers(port):
            return process, found[1]
        anyio.run(anyio.sleep, 0.1)
    process.kill()
    raise SystemExit(f"the server did not come up: {(place / 'server.log').read_text()}")


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _soak(
    core: int, workspace: Path, url: str, token: str, clients: list[SoakClient], minutes: float
) -> list[Sample]:
    """Samples at rest; `minutes` and the time of samples are those under load."""
    between = max(SHORTEST_BETWEEN, min(LONGEST_BETWEEN, minutes * 60 / SAMPLES))
    rests = Rests(len(clients))
    samples: list[Sample] = []
    loaded = 0.0
    async with anyio.create_task_group() as tasks:
        for client in clients:
            tasks.start_soon(client.run, url, token, rests)
        while loaded < minutes * 60:
            began = monotonic()
            await anyio.sleep(min(between, minutes * 60 - loaded))
            await rests.begin()
            loaded += monotonic() - began
            operations = sum(client.operations for client in clients)
            samples.append(await _at_rest(core, workspace, loaded, operations))
            rests.end(last=loaded >= minutes * 60)
    return samples


async def _at_rest(core: int, workspace: Path, loaded: float, operations: int) -> Sample:
    """A sample of a server that has ended what it does in the background: two looks in a row find the same."""

    async def look() -> Sample:
        commits = await anyio.to_thread.run_sync(_commits, workspace)
        return sample(core, workspace, seconds=loaded, operations=operations, commits=commits)

    ends = monotonic() + MOST_REST_SECONDS
    await anyio.sleep(REST_SECONDS)
    found = await look()
    while monotonic() < ends:
        await anyio.sleep(0.5)
        before, found = found, await look()
        if found.counts == before.counts:
            break
    return found


def _commits(workspace: Path) -> int:
    try:
        db: Any = apsw.Connection(str(workspace / "journal.db"), apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(2000)
        try:
            return db.execute("SELECT coalesce(max(number), 0) FROM commits").get
        finally:
            db.close()
    except apsw.Error:
        return 0  # not there yet


def _left(place: Path, workspace: Path, code: int) -> list[str]:
    """What is not as it should be once the server has ended."""
    wrong = [] if code == 0 else [f"the server ended with {code}"]
    log = (place / "server.log").read_text()
    wrong += ["the server raised: " + log[-2000:]] if "Traceback" in log else []
    wrong += [f"{path.name} was left in the scratch" for path in (workspace / "scratch").glob("session-*")]
    command = [sys.executable, "-P", "-m", "blendwright", "audit", "verify", "--workspace", str(workspace)]
    verified = subprocess.run(command, capture_output=True, text=True, check=False)
    return wrong + ([] if verified.returncode == 0 else [f"the audit chain: {verified.stdout}{verified.stderr}"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--output", type=Path)
    chosen = parser.parse_args()
    sys.exit(main(chosen.minutes, chosen.clients, chosen.output))
