"""blendwright metrics, on a journal that others wrote; no Blender is needed for it."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from journal.ledger import audit, begun
from support.processes.shell import Shell


def test_the_journal_is_told_as_prometheus_text_and_as_json(tmp_path: Path) -> None:
    journal = begun(tmp_path / "workspace", ["a", "b"])
    journal.commit([audit("bad", "failed", "scene-b", None)])
    shell = Shell(tmp_path)
    # Beside an open workspace: it takes no lock.
    text = shell("metrics", "--workspace", "workspace", code=0).out
    journal.close()
    samples = {sample.name: 0.0 for family in text_string_to_metric_families(text) for sample in family.samples}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples[sample.name] += sample.value
    assert samples["blendwright_commits_total"] == 3
    assert samples["blendwright_operations_total"] == 4
    document = shell("metrics", "--workspace", "workspace", "--json", code=0).document
    found = {family["name"]: family for family in document["metrics"]}
    assert found["blendwright_commits"]["samples"][0]["value"] == 3


def test_where_there_is_no_workspace_there_are_no_metrics(tmp_path: Path) -> None:
    ran = Shell(tmp_path)("metrics", "--json", code=3)
    assert ran.document["error"]["code"] == "environment_unfit"
    assert not (tmp_path / ".blendwright").exists()
