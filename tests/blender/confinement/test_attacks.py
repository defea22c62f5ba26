"""Hostile code in a confined worker with real Blender gets nowhere, and the same code unconfined does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.blender.confinement.attacks import ATTACKS, HARMLESS
from tests.blender.confinement.child import run_main, run_source

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement exists on Linux only")

NOBODY = 65534

_BLEND = """
import bpy, os, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
world = bpy.data.worlds.new("w")
bpy.data.libraries.write(sys.argv[1] + "/outside.blend", {world}, fake_user=True)
bpy.data.images.new("i", 4, 4).save(filepath=sys.argv[1] + "/outside.png")
os.write(int(sys.argv[2]), b"{}")
os._exit(0)
"""


def attacked(mode: str, directory: Path, user: int | None = None) -> dict[str, Any]:
    scratch, outside = directory / "scratch", directory / "outside"
    for made in (scratch, outside):
        made.mkdir()
        if user is not None:
            os.chown(made, user, -1)
    run_source(_BLEND, outside, scratch=scratch, user=user)
    return run_main("attacks", mode, scratch, outside, scratch=scratch, user=user)


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return attacked("confined", tmp_path_factory.mktemp("confined"))


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return attacked("free", tmp_path_factory.mktemp("free"))


def test_the_worker_says_that_it_is_fully_confined(confined: dict[str, Any]) -> None:
    account = confined["account"]
    assert account["level"] == "full", account["reason"]
    assert account["selftest"] == []
    assert account["reason"] is None
    assert account["seccomp"] and account["rlimits"] and account["landlock_abi"] >= 3


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_refused(name: str, confined: dict[str, Any]) -> None:
    assert confined["outcomes"][name].startswith("refused"), confined["outcomes"][name]


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_attack_would_succeed_unconfined(name: str, free: dict[str, Any]) -> None:
    assert free["outcomes"][name] == "succeeded"


def test_every_attack_is_refused_to_an_unprivileged_user(
    tmp_path: Path, make_reachable: Callable[[Path], None]
) -> None:
    make_reachable(tmp_path)
    told = attacked("confined", tmp_path, user=NOBODY)
    assert told["account"]["level"] == "full", told["account"]["reason"]
    assert [name for name, outcome in told["outcomes"].items() if not outcome.startswith("refused")] == []


@pytest.fixture
def make_reachable() -> Callable[[Path], None]:
    """Open the way to a directory for others, where we are root and others can run this interpreter at all."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a process as another user")
    try:
        subprocess.run([sys.executable, "-c", "import blendwright"], user=NOBODY, check=True, capture_output=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("others may not run this interpreter")

    def open_way(directory: Path) -> None:
        for step in (directory, *directory.parents):
            if step.stat().st_uid == 0 and step.is_relative_to("/tmp/"):
                step.chmod(step.stat().st_mode | 0o011)

    return open_way
