"""Outputs on S3, as moto speaks it on loopback: whole or not there, and nobody's attempt replaces another's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.cluster import PROJECT, free_port
from fleet.machines import wait_until

PACKAGES = PROJECT / "build" / "s3"
"""Where `make test-fleet` puts s3fs and moto, which are no part of the environment."""


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    if not (PACKAGES / "s3fs").is_dir():
        pytest.skip("s3fs and moto could not be had: see make test-fleet")
    port = free_port()
    environment = {
        **os.environ,
        "PYTHONPATH": f"{PACKAGES}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
    }
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_until(lambda: _answers(port), 120, "the storage answers")
            yield environment
        finally:
            server.kill()


def _answers(port: int) -> bool:
    import socket

    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_outputs_on_s3_are_whole_or_not_there(environment: dict[str, str]) -> None:
    story = Path(__file__).with_name("s3_story.py")
    done = subprocess.run([sys.executable, str(story), "farm"], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "files": ["large.bin", "scene.glb"],
        "differing": [],
        "published_again": False,
        "first": "first",
        "names": ["000001"],
        "attempts": ["000001", "000002"],
        "after_removal": ["000001"],
    }
