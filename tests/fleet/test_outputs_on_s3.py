"""Outputs on S3, as moto speaks it on loopback: whole or not there, and nobody's attempt replaces another's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from blendwright.batch.definition import Batch, BatchSource, Output
from blendwright.batch.results.table import ResultRow
from blendwright.fleet.address import VARIABLE
from blendwright.fleet.database import Database
from blendwright.fleet.results import PostgresResults
from fleet.cluster import PROJECT, free_port
from fleet.machines import COMMAND, wait_until

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


BATCH = Batch(BatchSource("prop.star", "x = 1"), (Output("glb", "scene.glb"),), "f" * 64, "5.2.3")


def test_files_on_s3_are_read_by_the_console(
    environment: dict[str, str], database: Database, database_url: str, tmp_path: Path
) -> None:
    """As whoever has credentials reads them; whoever has others is told so, and the page goes on."""
    environment[VARIABLE] = database_url
    story = Path(__file__).with_name("s3_story.py")
    subprocess.run([sys.executable, str(story), "farm"], env=environment, capture_output=True, check=True)
    results = PostgresResults(database, "s3://farm/props")
    results.begin(BATCH)
    results.add(BATCH, [({"seed": seed}, "") for seed in range(2)])
    (claim,) = [results.claim(case.key, "lane") for case in results.open_cases(BATCH.id) if case.number == 1]
    assert claim is not None
    files = {name: {"sha256": "0" * 64} for name in ("scene.glb", "large.bin", "missing.glb")}
    location = "s3://farm/props/cases/000001"
    row = ResultRow(1, claim.case.key, claim.case.params, "done", "hash", location, files)
    assert results.publish(row, claim.fence)
    nobody = {name: value for name, value in environment.items() if not name.startswith("AWS_")}
    nobody |= {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_EC2_METADATA_DISABLED": "true", "HOME": str(tmp_path)}
    command = [*COMMAND, "ui", "s3://farm/props", "--engine", "env", "--no-open"]
    for whose, expected in ((environment, 200), (nobody, 409)):
        with subprocess.Popen(command, env=whose, cwd=tmp_path, text=True, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            try:
                lines = iter(process.stderr.readline, "")
                found = next(match for line in lines if (match := re.search(r"(http://\S+?)/#link=(\S+)", line)))
                with httpx2.Client(base_url=found[1], headers={"Origin": found[1]}, timeout=120) as web:
                    entered = web.post("/api/session", json={"link": found[2]}).json()
                    web.headers["x-page-key"] = entered["key"]
                    path = f"/api/batches/{entered['batches'][0]['id']}/cases/1"
                    assert web.get(path).json()["row"]["has_files"]
                    scene = web.get(f"{path}/files/scene.glb")
                    assert scene.status_code == expected, scene.text
                    if expected == 200:
                        assert scene.content == b"first"
                        assert web.get(f"{path}/files/large.bin").content == b"\1" * 12_000_000
                        assert web.get(f"{path}/files/missing.glb").status_code == 404
                    else:
                        assert "s3://farm/props cannot be" in scene.json()["error"]["message"]
            finally:
                process.kill()
