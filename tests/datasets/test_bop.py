"""BOP data sets: what is in each scene, by the format's own rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from blendwright.datasets.samples import Cases, samples
from blendwright.datasets.write import write_dataset


def picture(path: Path) -> Any:
    with Image.open(path) as opened:
        return np.asarray(opened).astype(int)


def test_a_scene_has_what_the_format_asks_for(cases: Cases, tmp_path: Path) -> None:
    write_dataset(cases, "bop", tmp_path / "bop", pictures_per_unit=3)
    root = tmp_path / "bop" / "train_pbr"
    assert sorted(path.name for path in root.iterdir()) == ["000000", "000001"]
    assert [path.name for path in (tmp_path / "bop").iterdir()] == ["train_pbr"]
    checked = 0
    for place, sample in enumerate(samples(cases)):
        scene, number = root / f"{place // 3:06d}", place % 3
        camera, truth, info = (
            json.loads((scene / f"{name}.json").read_text())[str(number)]
            for name in ("scene_camera", "scene_gt", "scene_gt_info")
        )
        K = np.array(camera["cam_K"]).reshape(3, 3)
        assert K.tolist() == [list(row) for row in sample.picture.camera.K] and camera["depth_scale"] == 1.0
        depth = picture(scene / "depth" / f"{number:06d}.png")
        numbers = picture(sample.file("instances"))
        present = [each for each in sample.picture.instances if each.full_pixels]
        assert len(truth) == len(info) == len(present)
        for index, (pose, facts, instance) in enumerate(zip(truth, info, present, strict=True)):
            name = f"{number:06d}_{index:06d}.png"
            whole, seen = picture(scene / "mask" / name), picture(scene / "mask_visib" / name)
            assert ((seen == 255) == (numbers == instance.id)).all() and set(np.unique(whole).tolist()) <= {0, 255}
            assert not ((seen > 0) & (whole == 0)).any()
            assert facts["px_count_all"] == (whole > 0).sum() and facts["px_count_visib"] == (seen > 0).sum()
            assert facts["visib_fract"] == pytest.approx((seen > 0).sum() / (whole > 0).sum())
            if not seen.any():
                assert facts["bbox_visib"] == [-1, -1, -1, -1]
            rotation = np.array(pose["cam_R_m2c"]).reshape(3, 3)
            assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) and np.linalg.det(rotation) > 0
            assert pose["obj_id"] == {"cup": 3, "wall": 7}[sample.category(instance)]
            # All points of what is seen lie on the faces of a cube in the object's own space, in millimetres.
            rows, columns = np.nonzero(seen)
            away = depth[rows, columns] * camera["depth_scale"]
            points = np.stack([(columns - K[0, 2]) / K[0, 0] * away, (rows - K[1, 2]) / K[1, 1] * away, away])
            inside = rotation.T @ (points - np.array(pose["cam_t_m2c"])[:, None])
            half = 500 if pose["obj_id"] == 3 else 800
            assert np.abs(np.abs(inside).max(axis=0) - half).max(initial=0.0) < 2.0
            checked += 1
    assert checked >= 8
