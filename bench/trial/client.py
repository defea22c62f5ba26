"""python -m bench.trial.client DIRECTORY COMMAND: a trial by hand or by a model, from a shell, one call at a time.

    start [--bare] [--task TASK]   begin: a server on a fresh workspace, or a bare Blender; some tasks begin with a scene
    list                           what a host shows its model at first: instructions and tools
    call TOOL [ARGUMENTS …]        call a tool; arguments are one JSON object, or KEY=VALUE, where VALUE may be @FILE
    finish [--task TASK]           check the scene, print what it cost, end the server

`call plan_execute program=@arch.star image=true` sends a file as text. In a bare Blender the only tool is `exec code=@FILE`.
Answers are printed as a model reads them; pictures are written to files whose paths are printed. DIRECTORY/transcript.jsonl has
every call with its bytes, failures too, and DIRECTORY/answers/ what was answered. The server lives on between calls, and ends by
itself when nobody calls for an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from PIL import Image

from bench.trial.bare_blender import BareBlender
from bench.trial.recorder import ENVIRONMENT, Call, Host, export, host, read_transcript, totals
from bench.trial.trial import START, bare_blender, begin, check

SOCKET = "client.socket"
TRANSCRIPT = "transcript.jsonl"
IDLE_SECONDS = 3600
LONGEST_LINE = 64_000_000


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.trial.client", description=__doc__, add_help=True)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("directory", type=Path)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("start", "serve"):
        begin_it = commands.add_parser(name)
        begin_it.add_argument("--bare", action="store_true")
        begin_it.add_argument("--task")
    commands.add_parser("list")
    call = commands.add_parser("call")
    call.add_argument("tool")
    call.add_argument("arguments", nargs="*")
    commands.add_parser("finish").add_argument("--task")
    given = parser.parse_args(arguments)
    given.directory.mkdir(parents=True, exist_ok=True)
    try:
        return _run(given)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2


def _run(given: argparse.Namespace) -> int:
    match given.command:
        case "start":
            return _start(given.directory, given.bare, given.task)
        case "serve":
            anyio.run(_serve, given.directory, given.bare)
            return 0
        case "call":
            answer = _ask(given.directory, {"tool": given.tool, "arguments": read_arguments(given.arguments)})
        case _:
            answer = _ask(given.directory, {given.command: True, "task": getattr(given, "task", None)})
    print(answer["text"])
    return int(answer["failed"])


def read_arguments(words: list[str]) -> dict[str, Any]:
    """Arguments of a call from the words of a shell."""
    if len(words) == 1 and words[0].startswith(("{", "@", "-")):
        text = sys.stdin.read() if words[0] == "-" else _value(words[0])
        found = json.loads(text) if isinstance(text, str) else text
        if not isinstance(found, dict):
            raise ValueError("the arguments are not a JSON object")
        return found  # pyright: ignore[reportUnknownVariableType]
    pairs = [word.partition("=") for word in words]
    if any(not equals for _, equals, _ in pairs):
        raise ValueError("arguments are one JSON object, or KEY=VALUE each; VALUE may be JSON, text or @FILE")
    return {key: _value(value) for key, _, value in pairs}


def _value(text: str) -> Any:
    if text.startswith("@"):
        return Path(text[1:]).read_text()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _start(directory: Path, bare: bool, task: str | None) -> int:
    if (directory / SOCKET).exists():
        raise ValueError(f"a trial is already going on in {directory}; `finish` ends it")
    if task is not None:
        begin(task, directory, bare)
    command = [sys.executable, "-m", "bench.trial.client", str(directory.resolve()), "serve", *["--bare"] * bare]
    with (directory / "client.log").open("w") as log:
        process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    while not (directory / SOCKET).exists():
        if process.poll() is not None:
            raise ValueError((directory / "client.log").read_text())
        time.sleep(0.05)
    print(f"ready (process {process.pid})")
    return 0


def _ask(directory: Path, request: dict[str, Any]) -> dict[str, Any]:
    with contextlib.chdir(directory), socket.socket(socket.AF_UNIX) as connection:
        # A path of a socket is short, so that it is a relative one.
        try:
            connection.connect(SOCKET)
        except OSError:
            raise ValueError(f"no trial is going on in {directory}; begin one with `start`") from None
        connection.sendall(json.dumps(request).encode() + b"\n")
        with connection.makefile("r") as answer:
            return json.loads(answer.readline())


async def _serve(directory: Path, bare: bool) -> None:
    """Hold the server, answer one line of JSON per connection, until `finish` or an hour without calls."""
    os.chdir(directory)
    ended = anyio.Event()
    async with contextlib.AsyncExitStack() as stack:
        blender = stack.enter_context(bare_blender(Path())) if bare else None
        if blender is not None and Path(START).exists():
            blender.open(Path(START))
        connection = None if bare else await stack.enter_async_context(host(Path()))
        listener = await stack.enter_async_context(await anyio.create_unix_listener(SOCKET))
        stack.callback(Path(SOCKET).unlink, missing_ok=True)

        async def answer(stream: SocketStream) -> None:
            async with stream:
                deadline.deadline = anyio.current_time() + IDLE_SECONDS
                line = await BufferedByteReceiveStream(stream).receive_until(b"\n", LONGEST_LINE)
                request = json.loads(line)
                found = await _answer(request, connection, blender)
                await stream.send(json.dumps(found).encode() + b"\n")
                if "finish" in request:
                    ended.set()

        async with anyio.create_task_group() as tasks:
            with anyio.move_on_after(IDLE_SECONDS) as deadline:
                tasks.start_soon(listener.serve, answer)
                await ended.wait()
            tasks.cancel_scope.cancel()


async def _answer(request: dict[str, Any], connection: Host | None, blender: BareBlender | None) -> dict[str, Any]:
    if "finish" in request:
        return await anyio.to_thread.run_sync(_finish, request["task"], blender)
    if "list" in request:
        return {"text": await connection.first_text() if connection else BareBlender.FIRST_TEXT, "failed": False}
    if blender is not None:
        call = await anyio.to_thread.run_sync(blender.call, str(request["arguments"].get("code", "")))
        return {"text": _keep(call, []), "failed": call.failed}
    assert connection is not None
    call = await connection.call(request["tool"], request["arguments"])
    pictures, connection.pictures = connection.pictures, []
    return {"text": _keep(call, pictures), "failed": call.failed}


def _keep(call: Call, pictures: list[bytes]) -> str:
    """Record a call; what a shell shows of its answer."""
    with Path(TRANSCRIPT).open("a") as transcript:
        # Where it was recorded is nobody's business.
        transcript.write(call.line().replace(str(Path.cwd()), ".") + "\n")
    number = len(read_transcript(Path(TRANSCRIPT)))
    for folder in ("answers", "pictures"):
        Path(folder).mkdir(exist_ok=True)
    Path("answers", f"{number:03}.txt").write_text(call.answer)
    lines = [call.answer]
    for index, picture in enumerate(pictures, start=1):
        file = Path("pictures", f"{number:03}_{index}.png").resolve()
        with Image.open(io.BytesIO(picture)) as opened:
            opened.save(file)  # whatever it was sent as: every viewer shows a PNG
        lines.append(f"[picture: {file}]")
    return "\n".join(lines)


def _finish(task: str | None, blender: BareBlender | None) -> dict[str, Any]:
    calls = read_transcript(Path(TRANSCRIPT)) if Path(TRANSCRIPT).exists() else []
    found: dict[str, Any] = totals(calls)
    if task is not None:
        if blender is not None:
            found["wrong"] = check(task, blender, Path())
        else:
            export(Path(), Path("scene.blend"))
            with bare_blender(Path()) as reader:
                found["wrong"] = check(task, reader, Path(), Path("scene.blend"))
    Path("outcome.json").write_text(json.dumps(found) + "\n")
    return {"text": json.dumps(found), "failed": bool(found.get("wrong"))}


if __name__ == "__main__":
    sys.exit(main())
