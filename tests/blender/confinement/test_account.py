"""What a worker says about its confinement when some of it is missing."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.blender.confinement.child import run_source

from blendwright.blender import confinement
from blendwright.blender.confinement.selftest import ACTS

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="confinement exists on Linux only")

_TELL = """
import dataclasses, json, os, sys
from pathlib import Path
from blendwright.blender.confinement import Allowance, confine, landlock, linux, seccomp
{before}
account = confine(Allowance(Path(sys.argv[1])))
os.write(int(sys.argv[2]), json.dumps(dataclasses.asdict(account)).encode())
os._exit(0)
"""

_NO_LANDLOCK = "landlock.abi = lambda: 0"
_OLD_LANDLOCK = "landlock.abi = lambda: 2"
_NO_SECCOMP = """
def refuse(architecture):
    raise OSError(22, "Invalid argument")
seccomp.install = refuse
"""
_THREAD = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"

FILES = {"read_system_file", "read_parent_environment", "read_mounts", "read_network", "write_outside"}
PROCESSES_AND_SOCKETS = {"fork", "execute", "open_udp_socket", "open_unix_socket", "trace", "leave_namespace"}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def told(scratch: Path, before: str) -> dict[str, Any]:
    return run_source(_TELL.format(before=before), scratch, scratch=scratch)


@on_linux
def test_everything_in_place_is_full(scratch: Path) -> None:
    account = told(scratch, "")
    assert (account["level"], account["selftest"], account["reason"]) == ("full", [], None)


@on_linux
def test_without_landlock_the_self_test_reaches_files(scratch: Path) -> None:
    account = told(scratch, _NO_LANDLOCK)
    assert (account["level"], account["landlock_abi"], account["seccomp"]) == ("partial", 0, True)
    assert set(account["selftest"]) >= FILES
    assert "Landlock" in account["reason"]
    assert not set(account["selftest"]) & PROCESSES_AND_SOCKETS


@on_linux
def test_a_landlock_that_cannot_refuse_truncation_is_partial(scratch: Path) -> None:
    account = told(scratch, _OLD_LANDLOCK)
    assert (account["level"], account["landlock_abi"], account["selftest"]) == ("partial", 2, [])
    assert "truncated" in account["reason"]


@on_linux
def test_without_seccomp_the_self_test_reaches_processes_and_sockets(scratch: Path) -> None:
    account = told(scratch, _NO_SECCOMP)
    assert (account["level"], account["seccomp"]) == ("partial", False)
    assert set(account["selftest"]) >= {*PROCESSES_AND_SOCKETS, "change_mode"}
    assert not set(account["selftest"]) & FILES


@on_linux
def test_without_both_the_level_is_none_and_every_act_succeeds(scratch: Path) -> None:
    account = told(scratch, _NO_LANDLOCK + "\n" + _NO_SECCOMP)
    assert account["level"] == "none"
    # io_uring is switched off on some machines, and a user may have no home.
    assert set(account["selftest"]) >= set(ACTS) - {"use_io_uring", "read_home"}


@on_linux
def test_the_self_test_leaves_nothing_behind(scratch: Path) -> None:
    told(scratch, _NO_LANDLOCK + "\n" + _NO_SECCOMP)
    assert list(scratch.parent.rglob("*selftest*")) == []


@on_linux
def test_threads_that_run_already_are_told(scratch: Path) -> None:
    account = told(scratch, _THREAD)
    assert account["level"] == "partial"
    assert "1 threads started before confinement" in account["reason"]


@on_linux
def test_limits_that_cannot_be_set_are_told(scratch: Path) -> None:
    account = told(scratch, 'def refuse(allowance):\n    raise ValueError("no")\nlinux.limit_resources = refuse')
    assert (account["level"], account["rlimits"]) == ("partial", False)


@pytest.mark.parametrize(
    ("attribute", "value", "reason"),
    [
        ("sys.platform", "darwin", "no confinement"),
        ("platform.machine", lambda: "riscv64", "riscv64"),
    ],
)
def test_a_platform_without_support_runs_unconfined_and_says_so(
    attribute: str, value: object, reason: str, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confinement, "_applied", None)
    monkeypatch.setattr(attribute, value)
    account = confinement.confine(confinement.Allowance(scratch))
    assert (account.level, account.landlock_abi, account.seccomp, account.rlimits) == ("none", 0, False, False)
    assert account.selftest == tuple(ACTS)
    assert account.reason is not None and reason in account.reason
    assert (scratch / "home").is_dir()
