"""Code may write data and nothing else without a question; no call writes to environments, packages or version control."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects import geonodes
from blendwright.engine.files import code_directories
from blendwright.engine.files.access import FileAccess
from blendwright.engine.options import RunOptions
from blendwright.plan.validate import validate
from blendwright.policy.policy import Policy, Rules, Verdict
from blendwright.tools import catalog
from blendwright.values.approval import NOBODY, ApprovalAnswer, Approver
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.approval_calls import GRANTED, Person, numbers, rules_of
from support.engine.engine import Engine
from support.plans.documents import box, geonodes_plan, of_operations, python_step

TOOLS = catalog.tools()
PROGRAMS = [
    "evil.pth", "sitecustomize.py", "orjson.py", "conftest.py", "setup.py", "Makefile", "GNUmakefile", "x.desktop", "run.sh",
    "pyproject.toml", "setup.cfg", "x.html", "x.svg", "font.ttf", "x.service", "x.EXE", "noxfile", "x.blend1", "x.yml",
    "package.json", "PACKAGE.JSON", "tsconfig.build.json", "composer.json", "settings.json", "kernel.json", "requirements.txt",
    "requirements-dev.txt", "CMakeLists.txt", "CLAUDE.md", "agents.md", "startup.blend", "userpref.blend",
    "requirements/base.txt", "plugInfo.json",
    "evil.png.", "evil.py\u200b", "evil\u2024py", "evil.png\u200b", "package\u200b.json", "evil.\u0440ng", "x.png:evil", "x.png .py",
]  # fmt: skip
DATA = [
    "a.blend",
    "a.glb",
    "a.PNG",
    "a.exr",
    "a.mp4",
    "a.wav",
    "a.csv",
    "a.json",
    "a.npz",
    "a.txt",
    "notes.md",
    "a.pdf",
]
CODE_DIRECTORIES = [
    "site-packages", "lib/python3.13/site-packages/x", "dist-packages", "node_modules/x", "__pycache__", "Site-Packages",
    "NODE_MODULES", "conda-meta", "x.dist-info", "x.egg-info", "site-packages.", "site\u200b-packages", "\uff4eode_modules",
]  # fmt: skip
HIDDEN_DIRECTORIES = [".git/hooks", ".vscode", ".github/workflows", ".hg", "\uff0egit", "\u200b.git", "\u2024git"]


def code_call(out: Path, **more: Any) -> dict[str, Any]:
    return {"code": f"open(files[{out.name!r}], 'w').write('x')", "files": {"out": [str(out)]}, **more}


def folder(engine: Engine) -> Path:
    place = engine.place / f"folder {next(numbers)}"
    place.mkdir()
    return place


def refused_for_good(outcome: Outcome, file: Path) -> str:
    """The message of a call that no approval allows."""
    assert outcome.fault is Fault.POLICY_BLOCKED and rules_of(outcome) == [None], outcome.message
    assert not file.exists() and outcome.findings[0].cure
    return outcome.message


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_that_programs_may_execute_needs_a_person_who_sees_why(asking: Engine, name: str) -> None:
    target = folder(asking) / name
    outcome = asking.call("python.run", code_call(target))
    assert rules_of(outcome) == ["approval_missing"] and not target.exists()
    assert "programs may execute" in outcome.message or "programs read their configuration" in outcome.message
    person = Person(asking, ApprovalAnswer.DECLINED)
    assert not asking.call("python.run", code_call(target), approver=Approver(person)).ok
    (request,) = person.asked
    assert request.safety_level == "destructive" and "policy.levels.destructive = ask" in request.why
    assert any("programs" in reason for reason in request.why)
    assert not target.exists()


def test_data_needs_no_person(asking: Engine) -> None:
    place = folder(asking)
    # A file named .blend must be one: test_written_scenes.py has those.
    names = [name for name in DATA if not name.lower().endswith(".blend")]
    code = "\n".join(f"open(files[{name!r}], 'w').write('x')" for name in names)
    written = asking.call("python.run", {"code": code, "files": {"out": [str(place / name) for name in names]}})
    assert written.ok, written.message
    assert rules_of(written) == []


def test_a_program_file_is_written_once_it_is_allowed(asking: Engine) -> None:
    target = folder(asking) / "tool.py"
    written = asking.call("python.run", code_call(target), approver=GRANTED)
    assert written.ok and target.read_text() == "x", written.message


def test_one_program_among_data_is_enough_for_a_question(asking: Engine) -> None:
    place = folder(asking)
    args = {"code": "pass", "files": {"out": [str(place / "a.png"), str(place / "b.py")]}}
    outcome = asking.call("python.run", args)
    assert rules_of(outcome) == ["approval_missing"] and "b.py" in outcome.message and "a.png is" not in outcome.message


def test_a_plan_that_declares_less_is_refused_and_geonodes_steps_have_no_files(asking: Engine) -> None:
    call = code_call(asking.place / "x.pth")
    low = of_operations(box("a", tool_name="python.run", args=call, safety_level="safe_write"))
    found = validate(low, asking.tools, asking.session.contract.terms)
    assert isinstance(found, tuple) and "python.run is destructive" in found[0].message
    step = geonodes.DIALECT.parse(geonodes_plan(python_step("a", **call)))
    found = validate(step, asking.tools, asking.session.contract.terms)
    assert isinstance(found, tuple) and found[0].pointer == "/steps/0/payload/files"


@pytest.mark.parametrize("directory", CODE_DIRECTORIES + HIDDEN_DIRECTORIES)
@pytest.mark.parametrize("name", ["x.png", "x.py"])
def test_no_approval_opens_a_directory_of_code(asking: Engine, directory: str, name: str) -> None:
    target = folder(asking) / directory / name
    refused_for_good(asking.call("python.run", code_call(target), approver=GRANTED), target)
    target.parent.mkdir(parents=True)
    refused_for_good(asking.call("python.run", code_call(target), approver=GRANTED), target)


@pytest.mark.parametrize("marker", ["pyvenv.cfg", "conda-meta"])
def test_an_environment_is_known_by_its_marker_whatever_its_name(asking: Engine, marker: str) -> None:
    place = folder(asking)
    (place / marker).mkdir() if marker == "conda-meta" else (place / marker).touch()
    message = refused_for_good(asking.call("python.run", code_call(place / "share" / "x.png")), place / "share")
    assert "environment" in message


def test_links_do_not_lead_into_directories_of_code_or_to_programs(asking: Engine) -> None:
    place = folder(asking)
    (place / "node_modules").mkdir()
    (place / "pictures").symlink_to(place / "node_modules")
    (place / "harmless.png").symlink_to(place / "evil.pth")
    target = place / "pictures" / "x.png"
    refused_for_good(asking.call("python.run", code_call(target), approver=GRANTED), target)
    message = refused_for_good(
        asking.call("python.run", code_call(place / "harmless.png"), approver=GRANTED), place / "evil.pth"
    )
    assert "link" in message


@pytest.mark.parametrize(
    ("tool", "args", "name"),
    [
        ("file.export", {}, "x.glb"),
        ("file.export", {}, "x.blend"),
        ("render.still", {"samples": 1}, "x.png"),
        ("render.animation", {}, "x.mp4"),
    ],
)
def test_typed_tools_do_not_write_to_directories_of_code_either(
    asking: Engine, tool: str, args: dict[str, Any], name: str
) -> None:
    place = folder(asking)
    (place / "venv").mkdir()
    (place / "venv" / "pyvenv.cfg").touch()
    target = place / "venv" / "share" / name
    refused_for_good(asking.call(tool, {"path": str(target), **args}, approver=GRANTED), target)
    if tool == "render.animation":
        frames = target.with_name("shot_####.png")
        refused_for_good(asking.call(tool, {"frames_path": str(frames)}, approver=GRANTED), frames)


def test_directories_that_this_python_imports_from_are_closed(asking: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder(asking)
    (place / "src").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, str(place / "src")])
    target = place / "src" / "data" / "x.png"
    message = refused_for_good(asking.call("python.run", code_call(target), approver=GRANTED), target)
    assert "imports from" in message


def test_a_root_that_is_importable_itself_can_be_written_to(asking: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder(asking)
    monkeypatch.setattr(sys, "path", [str(asking.place), *sys.path])
    written = asking.call("python.run", code_call(place / "x.txt"))
    assert written.ok, written.message


def test_the_packages_of_this_python_are_closed_even_as_a_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = tmp_path / "lib"
    packages.mkdir()

    def installation(prefix: str) -> frozenset[Path]:
        return frozenset({packages})

    monkeypatch.setattr(code_directories, "_installation", installation)
    files = FileAccess({str(packages): Verdict.ALLOW}, tmp_path / "artifacts")
    (finding,) = files.path_findings(TOOLS["python.run"], code_call(packages / "x.png"))
    assert finding.fault is Fault.POLICY_BLOCKED and "contains the packages of this Python" in finding.message


def test_the_directory_is_looked_at_again_when_the_file_is_delivered(tmp_path: Path) -> None:
    scratch, place = tmp_path / "scratch", tmp_path / "place"
    scratch.mkdir()
    place.mkdir()
    files = FileAccess({str(place): Verdict.ALLOW}, tmp_path / "artifacts")
    args = code_call(place / "sub" / "x.png")
    args, findings = files.normalised(TOOLS["python.run"], args)
    assert findings == ()
    staged = files.stage(TOOLS["python.run"], args, scratch)
    Path(staged.paths[str(place / "sub" / "x.png")]).write_text("x")
    (place / "sub").mkdir()
    (place / "sub" / "pyvenv.cfg").touch()
    with pytest.raises(Refusal, match="environment"):
        files.deliver(staged)
    assert not (place / "sub" / "x.png").exists()


# ---------------------------------------------------------------------- hidden files that are read


@pytest.mark.parametrize("name", [".env", ".git/config", "a/.secret/b.txt", "link.txt"])
def test_a_hidden_file_is_read_only_after_a_person_saw_its_path(asking: Engine, name: str) -> None:
    place = folder(asking)
    real = place / (".hidden" if name == "link.txt" else name)
    real.parent.mkdir(parents=True, exist_ok=True)
    real.write_text("KEY=1")
    if name == "link.txt":
        (place / name).symlink_to(real)
    args = {"code": f"print(open(files[{Path(name).name!r}]).read())", "files": {"in": [str(place / name)]}}
    outcome = asking.call("python.run", args)
    assert rules_of(outcome) == ["approval_missing"] and str(real) in outcome.message and "hidden" in outcome.message
    assert f"--approve {real}" in (outcome.findings[0].cure or "")
    person = Person(asking, ApprovalAnswer.DECLINED)
    assert not asking.call("python.run", args, approver=Approver(person)).ok
    (request,) = person.asked
    assert f"reads {json.dumps(str(real))}" in request.what.split("\n")
    granted = asking.call("python.run", args, approver=Approver(grants=frozenset({str(real)})))
    assert granted.ok == (name != "link.txt") or granted.fault is Fault.EXECUTION_FAILED, granted.message


def test_files_of_a_hidden_root_are_not_hidden(asking: Engine) -> None:
    place = folder(asking) / ".project"
    place.mkdir()
    (place / "a.txt").write_text("seen")
    asking.roots = {str(place): Verdict.ALLOW}
    try:
        done = asking.call(
            "python.run", {"code": "print(open(files['a.txt']).read())", "files": {"in": [str(place / "a.txt")]}}
        )
        assert done.ok, done.message
    finally:
        asking.roots = {}


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("file.import", {"path": ".kept/x.obj"}),
        ("image.load", {"path": ".kept/x.png", "name": "Kept"}),
        ("asset.add", {"asset": ".kept/x.glb"}),
    ],
)
def test_typed_tools_ask_about_hidden_files_too(asking: Engine, tool: str, args: dict[str, Any]) -> None:
    place = folder(asking)
    (place / ".kept").mkdir()
    argument = "asset" if "asset" in args else "path"
    file = place / args[argument]
    file.write_text("x")
    outcome = asking.call(tool, args | {argument: str(file)})
    assert rules_of(outcome) == ["approval_missing"] and str(file) in outcome.message, outcome.message


def test_a_gltf_file_does_not_bring_hidden_files_along(tmp_path: Path) -> None:
    scratch, place = tmp_path / "scratch", tmp_path / "place"
    scratch.mkdir()
    (place / ".git").mkdir(parents=True)
    for name in (".env", ".git/config", "real.bin"):
        (place / name).write_text("KEY=1")
    uris = [".env", ".git/config", "real.bin"]
    (place / "x.gltf").write_text(json.dumps({"buffers": [{"uri": uri, "byteLength": 5} for uri in uris]}))
    files = FileAccess({str(place): Verdict.ALLOW}, tmp_path / "artifacts")
    files.stage(TOOLS["asset.add"], {"asset": str(place / "x.gltf")}, scratch)
    copied = {path.name for path in scratch.rglob("*") if path.is_file()}
    assert copied == {"x.gltf", "real.bin"}


def test_a_preview_asks_about_hidden_files_and_not_about_what_it_does_not_write(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    roots = {str(tmp_path): Verdict.ALLOW}
    reads = {"code": "print(1)", "files": {"in": [str(tmp_path / ".env")]}}
    with blendwright.open(tmp_path / "workspace", policy=Policy(policy=Rules(roots=roots))) as scene:
        for args, expected in ((reads, ["preview_unasked"]), (code_call(tmp_path / "x.py"), [])):
            level = "safe_write" if expected else "destructive"
            operation = box("a", tool_name="python.run", args=args, safety_level=level)
            shown = scene.preview({"request_id": level, "operations": [operation]}, RunOptions(approver=NOBODY))
            assert [finding.rule for finding in shown.report.all_findings()] == expected
            assert shown.asks == (() if expected else shown.asks) and bool(shown.asks) != bool(expected)
    assert not (tmp_path / "x.py").exists()
