from __future__ import annotations

import os
import signal
from pathlib import Path

from blendwright.batch.directory import BatchDirectory
from blendwright.batch.engines.engine import Job
from blendwright.batch.engines.lane_process import LaneProcess


def test_a_lane_that_was_killed_is_found_dead_and_ended_without_an_error(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    lane = LaneProcess(BatchDirectory(tmp_path).lane_settings(), None)
    os.kill(lane.pid, signal.SIGKILL)
    answer = lane.do(Job("batch", "case"))
    assert answer is not None
    assert "ended while it started" in answer["error"]
    lane.end()
    assert not Path("/proc", str(lane.pid)).exists()
