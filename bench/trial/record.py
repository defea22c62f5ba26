"""python -m bench.trial.record DIRECTORY [TOOL ARGUMENTS.json]: one call of a trial, appended to DIRECTORY/transcript.jsonl.

Prints what a model would read; pictures are written beside the transcript. Without a tool: instructions and list of tools.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio

from bench.trial.recorder import host


async def record(directory: Path, tool: str | None, arguments: Path | None) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    async with host(directory) as connection:
        if tool is None or arguments is None:
            print(connection.client.instructions)
            for listed in (await connection.client.list_tools()).tools:
                print(
                    json.dumps({"name": listed.name, "description": listed.description, "input": listed.input_schema})
                )
            return
        call = await connection.call(tool, json.loads(arguments.read_text()))
        with (directory / "transcript.jsonl").open("a") as transcript:
            transcript.write(call.line() + "\n")
        print("FAILED" if call.failed else "ok", call.sent, call.received, call.picture_bytes, call.answer)
        for number, picture in enumerate(connection.pictures):
            (directory / f"picture{number}.jpg").write_bytes(picture)


if __name__ == "__main__":
    given = sys.argv[1:]
    anyio.run(record, Path(given[0]), given[1] if len(given) > 1 else None, Path(given[2]) if len(given) > 2 else None)
