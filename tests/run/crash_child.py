"""A core that runs a plan and may be killed at any moment: prints every acknowledgement, then how it ended.

python crash_child.py WORKSPACE OPERATIONS WHOM AT

WHOM is who is killed after the acknowledgement with the number AT: worker, core, both, or nobody (then a crash point of the
journal decides, which the environment names).
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import blendwright
from blendwright.values.report import OperationReport


def plan(size: int) -> dict[str, Any]:
    listed: list[dict[str, Any]] = [
        {
            "step_id": f"s{number:03d}",
            "dependencies": [],
            "tool": {
                "name": "object.create_empty",
                "args": {"name": f"Empty {number:03d}", "location": [number, 0, 0]},
            },
        }
        for number in range(size)
    ]
    return {"steps": listed}


def main(workspace: str, size: int, whom: str, at: int) -> None:
    count = 0
    with blendwright.open(workspace, spare=False) as scene:
        worker = scene.worker_pid

        def progress(report: OperationReport) -> None:
            nonlocal count
            count += 1
            sys.stdout.write(f"{report.operation_id} {report.status} {report.scene_hash_after}\n")
            sys.stdout.flush()
            if count == at:
                if whom in ("worker", "both"):
                    os.kill(worker, signal.SIGKILL)
                if whom in ("core", "both"):
                    os.kill(os.getpid(), signal.SIGKILL)

        report = scene.run(plan(size), request_id="crash", progress=progress)
    sys.stdout.write(f"end {report.status}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
