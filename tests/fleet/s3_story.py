"""What a store of outputs does on S3, in a process that has s3fs: told as one line of JSON."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from blendwright.batch.outputs.shared_storage import FsspecOutputs
from blendwright.batch.outputs.store import differing_files
from blendwright.util import crash_points


class Killed(BaseException):
    pass


def staged(text: str) -> Path:
    folder = Path(tempfile.mkdtemp())
    (folder / "scene.glb").write_text(text)
    (folder / "large.bin").write_bytes(b"\1" * 12_000_000)
    return folder


def main(bucket: str) -> dict[str, Any]:
    # Not part of the environment that types are checked in.
    s3fs: Any = import_module("s3fs")
    s3fs.S3FileSystem().mkdir(bucket)
    store = FsspecOutputs(f"s3://{bucket}/props")
    manifest = store.publish(staged("first"), "000001", "key", "hash")
    try:
        store.publish(staged("second"), "000001", "key", "hash")
        again = True
    except FileExistsError:
        again = False
    crash_points.reach = _die
    with contextlib.suppress(Killed):
        store.publish(staged("cut off"), "000002", "key", "hash")
    told: dict[str, Any] = {
        "files": sorted(manifest.files),
        "differing": differing_files(store, "000001", manifest),
        "published_again": again,
        "first": store.open("000001", "scene.glb").read().decode(),
        "names": sorted(store.names()),
        "attempts": sorted(store.attempts()),
    }
    store.remove("000002")
    told["after_removal"] = sorted(store.attempts())
    return told


def _die(name: str) -> None:
    if name == "batch.outputs_staged":
        raise Killed


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])) + "\n")
