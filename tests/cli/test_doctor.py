"""blendwright doctor: what works here, and cures for what does not."""

from __future__ import annotations

from shell import Shell


def test_a_machine_that_is_fit_is_told_so(shell: Shell) -> None:
    report = shell("doctor", "--json", code=0).document
    assert report["ok"] is True
    checks = {check["name"]: check for check in report["checks"]}
    assert {"python", "blender", "render engines", "confinement", "undo tier", "tools"} <= set(checks)
    assert all(check["ok"] for check in checks.values() if check["required"])
    assert "CYCLES" in checks["render engines"]["found"]
    assert list(shell.place.iterdir()) == [], "looking leaves nothing behind"


def test_a_blender_that_is_not_there_is_unfit_with_a_cure(shell: Shell) -> None:
    report = shell("doctor", "--blender", "no-such-blender", "--json", code=3).document
    (check,) = [check for check in report["checks"] if check["name"] == "blender"]
    assert report["ok"] is False and check["ok"] is False
    assert "no-such-blender" in check["found"] and check["cure"]
