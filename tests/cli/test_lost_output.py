"""Standard output that is gone or full: nothing of ours is a defect then, and nobody is shown a stack trace."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.processes.shell import PROGRAM


def ran(place: Path, stdout: int, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=place, stdout=stdout, stderr=subprocess.PIPE, timeout=90, check=False
    )
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("schemas",), 1),
        pytest.param(("schemas", "--json"), 1, marks=pytest.mark.slow),
        pytest.param(("log", "--workspace", "nowhere", "--json"), 3, marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_has_gone_ends_it_in_silence(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert ran(tmp_path, writing, *arguments) == (code, "")
    finally:
        os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full here")
@pytest.mark.parametrize("arguments", [("schemas",), pytest.param(("schemas", "--json"), marks=pytest.mark.slow)])
def test_a_full_disk_is_told_as_what_it_is(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        code, told = ran(tmp_path, full.fileno(), *arguments)
    assert code == 3 and "defect" not in told and "Traceback" not in told
    assert "No space left" in told


def test_without_standard_output_the_exit_code_tells_it(tmp_path: Path) -> None:
    closed = ["/bin/sh", "-c", 'exec "$0" schemas --json >&-', str(PROGRAM)]
    done = subprocess.run(closed, cwd=tmp_path, stderr=subprocess.PIPE, timeout=90, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
