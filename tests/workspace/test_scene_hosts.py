"""The core runs without the package `window`, and refuses only the workspaces that are bound to a window."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import blendwright
from blendwright.capabilities import capabilities
from blendwright.values.errors import EnvironmentUnfit
from blendwright.workspace.opening import follow_window
from blendwright.workspace.scene_hosts import WINDOW_BINDING, require_window_capability, window_capability

REGISTRATION = "blendwright.window.capability"
HOSTING = "blendwright.window.hosting"


@pytest.fixture
def no_window_package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, REGISTRATION, None)
    capabilities.cache_clear()
    yield
    capabilities.cache_clear()


def test_opening_a_workspace_does_not_load_the_window_package(tmp_path: Path) -> None:
    program = (
        "import sys, blendwright\n"
        f"blendwright.open({str(tmp_path)!r}, spare=False).close()\n"
        "print(*(name for name in sys.modules if name.startswith('blendwright.window')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"blendwright.window", REGISTRATION}


@pytest.mark.usefixtures("no_window_package")
def test_without_the_window_package_an_unbound_workspace_opens(tmp_path: Path) -> None:
    assert window_capability() is None
    with blendwright.open(tmp_path, spare=False) as opened:
        assert opened.journal.head is None
    follow_window(tmp_path)


@pytest.mark.usefixtures("no_window_package")
def test_without_the_window_package_a_bound_workspace_is_refused(tmp_path: Path) -> None:
    (tmp_path / WINDOW_BINDING).write_text("{}")
    with pytest.raises(EnvironmentUnfit, match=r"this installation has no blendwright\.window") as refused:
        blendwright.open(tmp_path, spare=False)
    assert WINDOW_BINDING in (refused.value.cure or "")


@pytest.mark.usefixtures("no_window_package")
def test_without_the_window_package_attach_is_refused() -> None:
    with pytest.raises(EnvironmentUnfit, match="--attach needs a window"):
        require_window_capability("--attach needs a window")


def test_an_error_inside_the_window_package_is_not_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, HOSTING, raising=False)
    monkeypatch.setitem(sys.modules, "blendwright.window.panel", None)
    with pytest.raises(ModuleNotFoundError):
        window_capability()
