"""A worker ends with its parent, however that one ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.engine.engine import TRIALS

PARENT = """
import sys
from pathlib import Path
from blendwright.bridge.sources import worker_source
from blendwright.bridge.spawn import WorkerSettings

pool = worker_source().open_pool(WorkerSettings(Path(sys.argv[1]), environment={sys.argv[3]: sys.argv[4]}))
worker = pool.take()
if sys.argv[2] == "busy":
    worker.call("test.print", {"text": "before"}, deadline=60)
    worker.submit("test.sleep", {})
sys.stdout.write(f"{worker.pid}\\n")
sys.stdout.flush()
sys.stdin.read()
if sys.argv[2] == "leaves":
    sys.exit()
"""


@pytest.fixture
def parent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "scratch"), request.param, *next(iter(TRIALS.items()))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="waits on a pidfd")
@pytest.mark.parametrize("parent", ["idle", "busy", "leaves"], indirect=True)
def test_no_worker_is_left_when_its_parent_is_gone(
    parent: subprocess.Popen[bytes], request: pytest.FixtureRequest
) -> None:
    assert parent.stdout is not None
    assert parent.stdin is not None
    worker = os.pidfd_open(int(parent.stdout.readline()))
    try:
        if "leaves" in request.node.name:
            # It ends without closing its pool.
            parent.stdin.close()
        else:
            parent.kill()
        parent.wait(60)
        ready, _, _ = select.select([worker], [], [], 5)
        assert ready, "the worker outlived its parent"
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        os.close(worker)
