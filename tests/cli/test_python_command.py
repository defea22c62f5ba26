"""Code from the command line: safe at once, trusted only after `blendwright approve`."""

from __future__ import annotations

import json

import pytest

from support.processes.shell import Shell, at_a_terminal

SAFE = {"code": "import bpy\nprint(len(bpy.data.objects))"}
TRUSTED = {"code": "import bpy\nbpy.context.scene.frame_start = 7", "mode": "trusted"}


@pytest.mark.slow
@pytest.mark.proves("GN-PY-07")
def test_safe_code_runs_and_trusted_code_waits_for_a_person(shell: Shell) -> None:
    (shell.place / ".blendwright").mkdir()
    (shell.place / ".blendwright" / "blendwright.toml").write_text('[policy]\ntrusted_python = "ask"\n')
    ran = shell("call", "python.run", "--args", json.dumps(SAFE), "--json", code=0).document
    assert ran["result"]["output"] == "0\n"
    call = ("call", "python.run", "--args", json.dumps(TRUSTED), "--json")
    refused = shell(*call, "--approve", "python.run", code=2).document
    (finding,) = refused["details"]["findings"]
    waiting = shell("approve", code=0).out
    assert TRUSTED["code"].splitlines()[1] in waiting
    id = finding["cure"].partition("approve ")[2].split()[0]
    code, shown = at_a_terminal(shell.place, "y\n", "approve", id)
    assert code == 0 and TRUSTED["code"].splitlines()[1] in shown
    assert shell(*call, code=0).document["result"]["mode"] == "trusted"
