"""The window on other Blender versions: undo, reverting, and a file that another process finds equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from window.alone.core_client import CoreClient
from window.playing import PlayedWindow, python_of

REOPENED = """__import__('blendwright.blender.scene', fromlist=['x']).SceneState"""


# The oldest in make test.
@pytest.mark.parametrize("series", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("5.0", "4.5")), "4.2"])
def test_a_plan_in_another_blender(series: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = python_of(series, monkeypatch)
    with PlayedWindow(tmp_path / "window", python) as window, CoreClient(window.note) as core:
        # The material stays: Blender has not looked at its sockets since a Blender before it made them.
        window.do(
            "bpy.data.materials['Material'].use_fake_user = True; bpy.data.objects.remove(bpy.data.objects['Cube'])"
        )
        assert core.attached().call("ping") == {}
        before = core.begin("a box")["hash"]
        assert before == window.fingerprint()
        assert core.step("mesh.create_primitive", kind="cube", name="Cube")["ok"]
        assert core.step("object.delete", object="Light")["ok"]
        assert core.call("window.take_back") == {"hash": before}
        assert core.step("mesh.create_primitive", kind="cube", name="Cube")["ok"]
        after = core.end("a box")
        assert after == window.fingerprint() != before
        window.undo()
        assert window.fingerprint() == before
        assert core.call("window.redo") == {"hash": after}
        window.mode("Cube", "EDIT")
        assert core.begin()["reasons"]
        window.mode("Cube", "OBJECT")
        path = tmp_path / "window.blend"
        assert core.call("window.save", path=str(path)) == {"hash": after} and window.file() == ""
        with PlayedWindow(tmp_path / "other", python) as second_window:
            second_window.fingerprint()  # loads the package
            second_window.do(
                f"state = {REOPENED}(); state.open(__import__('pathlib').Path({str(path)!r}), drop_unused=True)"
            )
            assert second_window.ask("state.root()") == after
