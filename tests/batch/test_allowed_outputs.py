"""Where a worker writes to is said by its operator; what a row of the database names is held against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from batches import one_lane, seeds, write_program

from blendwright.batch.cases.job_handler import CaseHandler
from blendwright.batch.definition import Output
from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Job
from blendwright.batch.outputs.allowed_locations import allowed_places, outputs_refusal
from blendwright.batch.outputs.locations import open_results
from blendwright.values.errors import EnvironmentUnfit, Refusal


def is_allowed(url: str, *named: str) -> bool:
    return outputs_refusal(url, allowed_places(named)) is None


def test_without_a_word_of_the_operator_it_is_storage_of_objects() -> None:
    assert is_allowed("s3://bucket/props") and is_allowed("gs://bucket") and is_allowed("az://container/x")
    for url in ("file:///home/user/.ssh", "memory://x", "ftp://host/x", "http://host/x", "s3://bucket/../other"):
        assert not is_allowed(url), url


def test_what_the_operator_names_is_allowed_with_what_is_below_and_nothing_else() -> None:
    named = "s3://bucket/props/"
    assert is_allowed("s3://bucket/props", named) and is_allowed("s3://bucket/props/a/b", named)
    for url in ("s3://bucket", "s3://bucket/props2", "s3://other/props", "gs://bucket/props", "file:///bucket/props"):
        assert not is_allowed(url, named), url
    with pytest.raises(Refusal, match="is not a location for outputs"):
        allowed_places(["ftp://host/x"])


def test_directories_are_compared_by_where_they_lead(tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "link").symlink_to(tmp_path)
    (tmp_path / "share" / "batch").mkdir()
    (tmp_path / "share" / "batch" / "cases").symlink_to(tmp_path)
    (tmp_path / "mounted").symlink_to(tmp_path / "share")
    for named in (str(tmp_path / "share"), f"file://{tmp_path}/mounted", str(tmp_path / "mounted")):
        assert is_allowed(f"file://{tmp_path}/share/props", named)
        assert is_allowed(f"file://{tmp_path}/mounted/props", named)
        for other in ("shared/props", "home", "share/link/home", "share/batch"):
            assert not is_allowed(f"file://{tmp_path}/{other}", named), other


def test_a_case_for_a_place_that_is_not_allowed_fails_and_the_place_is_not_touched(tmp_path: Path) -> None:
    root, home = tmp_path / "out", tmp_path / "home"
    with one_lane(root, write_program(tmp_path), seeds(1), outputs=("glb",)) as lane:
        (key,) = _keys(root)
        settings = replace(BatchDirectory(root).lane_settings(), outputs=f"file://{home}", places=allowed_places([]))
        handler = CaseHandler(settings)
        try:
            row = handler(Job(lane.batch.id, key)).row
        finally:
            handler.close()
    assert row is not None
    assert (row["status"], row["findings"][0]["code"]) == ("failed", "POLICY_BLOCKED")
    assert f"--outputs file://{home}" in row["findings"][0]["cure"]
    assert not home.exists()


@pytest.mark.parametrize(("kind", "name"), [("annotations", "{home}/ann"), ("glb", "../x.glb")])
def test_outputs_of_a_definition_are_names_of_files(tmp_path: Path, kind: str, name: str) -> None:
    root, home = tmp_path / "out", tmp_path / "home"
    home.mkdir()
    with one_lane(root, write_program(tmp_path), seeds(1)) as lane:
        other = replace(lane.batch, outputs=(Output(kind, name.format(home=home)),))
        with open_results(str(BatchDirectory(root).results)) as results:
            results.begin(other)
        with pytest.raises(EnvironmentUnfit, match="is not a valid file name for an output") as refused:
            lane.handler(Job(other.id, _keys(root, lane.batch.id)[0]))
    assert other.id in refused.value.message and "Submit the batch again" in str(refused.value.cure)
    assert not list(home.iterdir())


def _keys(root: Path, batch: str | None = None) -> list[str]:
    with open_results(str(BatchDirectory(root).results)) as results:
        latest = results.batch(batch)
        assert latest is not None
        return [case.key for case in results.open_cases(latest.id)]
