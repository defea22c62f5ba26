"""Picture files of calls: read and written inside the roots only, and what was loaded stays though its file changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import blendwright
from blendwright.policy.policy import Levels, Policy, Rules, Verdict
from support.stage.pictures import png


def test_only_files_inside_the_roots_are_read_and_written_and_none_is_replaced_unasked(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    inside, outside = png(project / "in.png", (255, 0, 0)), png(tmp_path / "out.png", (0, 255, 0))
    (project / "link.png").symlink_to(outside)
    policy = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW), roots={str(project): Verdict.ALLOW}))
    with blendwright.open(tmp_path / "ws", policy=policy) as scene:
        for path in (outside, project / "link.png", project / "missing.png", project / ".." / "out.png"):
            refused = scene.outcome("image.load", {"name": "A", "path": str(path)})
            assert not refused.ok and refused.findings[0].pointer == "/path", path
        assert scene.outcome("image.load", {"name": "A", "path": str(inside)}).ok
        kept = inside.read_bytes()
        for path in (tmp_path / "new.png", inside):
            assert not scene.outcome("image.save", {"name": "A", "path": str(path)}).ok
        assert not (tmp_path / "new.png").exists() and inside.read_bytes() == kept
        assert scene.outcome("image.save", {"name": "A", "path": str(project / "sub" / "new.png")}).ok
        assert (project / "sub" / "new.png").is_file()
        assert scene.outcome("image.save", {"name": "A", "path": str(inside), "overwrite": True}).ok
        assert inside.read_bytes() != kept
        head = scene.outcome("scene.snapshot", {}).fingerprint_after
    # The file has another content now; the scene has the one that was loaded.
    with blendwright.open(tmp_path / "ws", policy=policy) as scene:
        assert scene.outcome("scene.snapshot", {}).fingerprint_after == head


def test_a_folder_is_read_inside_the_roots_and_links_out_of_them_are_not_followed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    inside = project / "oak"
    inside.mkdir(parents=True)
    png(inside / "oak_col.png", (200, 100, 50))
    outside = tmp_path / "outside"
    outside.mkdir()
    png(outside / "secret_rough.png", (1, 2, 3))
    (inside / "oak_rough.png").symlink_to(outside / "secret_rough.png")
    policy = Policy(policy=Rules(roots={str(project): Verdict.ALLOW}))
    with blendwright.open(tmp_path / "ws", policy=policy) as scene:
        refused = scene.outcome("material.from_textures", {"name": "A", "folder": str(outside)})
        assert not refused.ok and refused.findings[0].pointer == "/folder"
        assert not scene.outcome("material.from_textures", {"name": "A", "folder": str(project / "no")}).ok
        done = scene.outcome("material.from_textures", {"name": "A", "folder": str(inside)})
        assert done.ok, done.message
        result: Any = done.result
        assert [each["map"] for each in result["maps"]] == ["base_color"]


def test_a_result_names_its_artifact_as_it_was_kept(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "workspace") as scene:
        assert scene.call("mesh.create_primitive", kind="cube", name="Box").ok
        for name in ("front.png", "front-2.png"):
            seen = scene.call("render.preview", view="FRONT", width=32, height=32, artifact="front.png")
            assert seen.result is not None and seen.result["artifact"] == name
            assert [Path(path).name for path in seen.details["artifacts"]] == [name]
