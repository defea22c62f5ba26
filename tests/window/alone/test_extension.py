"""The built extension: a small file for every Blender, which Blender itself validates and installs."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import blendwright
from blendwright.window.extension_file import write_extension
from window.alone.core_client import CoreClient
from window.playing import PlayedWindow, python_of

MODULES = ("frames", "rendezvous", "connection", "package_loader", "pump")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_extension(tmp_path_factory.mktemp("built"))


def test_the_zip_holds_what_it_must_and_no_wheels(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert archive.testzip() is None
    assert {"__init__.py", "blender_manifest.toml", "LICENSE", "panel.py", "open_window.py"} | {
        f"{m}.py" for m in MODULES
    } == set(names)
    assert names == sorted(names) and built.stat().st_size < 40_000
    assert built.name == f"blendwright-{blendwright.__version__}.zip" and manifest["version"] == blendwright.__version__
    assert manifest["blender_version_min"] == "4.2.0" and "wheels" not in manifest and "platforms" not in manifest
    assert set(manifest["permissions"]) == {"files", "network"}
    assert all(len(reason) <= 64 and not reason.endswith(".") for reason in manifest["permissions"].values())


def test_the_same_sources_give_the_same_bytes(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = write_extension(tmp_path)
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(built.read_bytes()).digest()


def test_only_the_standard_library_is_used_before_a_core_attaches(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        archive.extractall(tmp_path / "extension")
    code = (
        f"import sys, importlib; sys.path[:0] = [{str(tmp_path)!r}]; before = set(sys.modules)\n"
        f"for name in {MODULES!r}: importlib.import_module('extension.' + name)\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before} - {'extension'}\n"
        "print(sorted(new - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The newest in make test.
@pytest.mark.parametrize(
    "series", ["5.2", *(pytest.param(name, marks=pytest.mark.slow) for name in ("5.0", "4.5", "4.2"))]
)
def test_blender_finds_it_valid_installs_it_and_a_core_attaches(
    series: str, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = python_of(series, monkeypatch)
    with PlayedWindow(tmp_path / "window", python, user_files=tmp_path / "user") as window:
        cli = window.ask(
            "__import__('os').path.join(bpy.utils.system_resource('SCRIPTS'), 'addons_core/bl_pkg/cli/blender_ext.py')"
        )
        validated = subprocess.run([python, cli, "validate", str(built)], capture_output=True, text=True)
        assert validated.returncode == 0, validated.stdout + validated.stderr
        window.disconnect()  # the extension from beside it makes way for the one that is installed
        install = f"bpy.ops.extensions.package_install_files(filepath={str(built)!r}, repo='user_default', enable_on_install=True)"
        window.do(install, push=False)
        installed = "bl_ext.user_default.blendwright"
        assert window.ask(f"bpy.context.preferences.addons[{installed!r}].preferences.connect_on_start") is False
        assert not window.ask(f"__import__('{installed}.panel', fromlist=['x']).this_window.is_connected")
        window.do(f"bpy.context.preferences.addons[{installed!r}].preferences.connect_on_start = True", push=False)
        window.do(f"import {installed}.panel as panel; panel.connect_on_start()", push=False)
        window.use_extension(installed)
        with CoreClient(window.note) as core:
            core.attached().begin()
            assert core.step("mesh.create_primitive", kind="cube", name="Installed")["ok"]
            assert core.end() == window.fingerprint()
        window.do(f"bpy.ops.preferences.addon_disable(module={installed!r})", push=False)
        assert list(window.windows.iterdir()) == []
