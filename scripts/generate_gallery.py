"""Write docs/gallery.md: every example with its picture and the command that makes it. With --check, only say what is not current.

A picture is made again, by running its example on real Blender, when the example has changed since: docs/pictures/gallery/examples.json
keeps the hash of each. `make gallery` does so; `make check` compares the hashes.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures" / "gallery"
HASHES = PICTURES / "examples.json"
LIST = ROOT / "examples" / "README.md"
ROW = re.compile(r"^\| `([\w/]+\.(?:json|star))` \| (.*?) \| (\w+) \|$", re.MULTILINE)
NOTE = "<!-- Generated from examples/README.md by scripts/generate_gallery.py; do not edit. -->"
INTRODUCTION = "All of these are in `examples/`, and the command below each makes it, on any machine. `make gallery` made the pictures."
WIDTH, QUALITY = 480, 78
# Examples that show something else than a picture, or go on from the scene of another one.
LEFT_OUT = frozenset({"plans/broken/broken.json", "cleanup/mended_scene.json", "assets/baked_crate.json"})


def examples() -> dict[str, str]:
    """Every example that has a picture, with what it makes."""
    return {path: text for path, text, _ in ROW.findall(LIST.read_text("utf-8")) if path not in LEFT_OUT}


def picture_of(example: str) -> Path:
    return PICTURES / (example.replace("/", "-").rpartition(".")[0] + ".webp")


def hash_of(example: str) -> str:
    return hashlib.sha256((ROOT / "examples" / example).read_bytes()).hexdigest()


def page() -> str:
    parts = [
        NOTE,
        "# Gallery",
        INTRODUCTION,
    ]
    for example, text in examples().items():
        # Links of the list lead from its own directory.
        text = text.replace("](../docs/", "](")
        parts.append(f"## {example.rpartition('/')[2].rpartition('.')[0].replace('_', ' ')}")
        parts.append(f"![{example}](pictures/gallery/{picture_of(example).name})")
        parts.append(f"{text[0].upper()}{text[1:]}.")
        parts.append(f"```\nblendwright run examples/{example} --workspace new --image picture.png\n```")
    return "\n\n".join(parts) + "\n"


def render(example: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        program = Path(sys.executable).with_name("blendwright")
        picture = Path(directory, "picture.png")
        command = [program, "run", ROOT / "examples" / example, "--workspace", "new", "--image", picture]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{example} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        with Image.open(picture) as whole:
            height = round(whole.height * WIDTH / whole.width)
            smaller = whole.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
            smaller.save(picture_of(example), quality=QUALITY)


def main(*options: str) -> int:
    recorded: dict[str, str] = json.loads(HASHES.read_text()) if HASHES.is_file() else {}
    current = {example: hash_of(example) for example in examples()}
    stale = [name for name in current if recorded.get(name) != current[name] or not picture_of(name).is_file()]
    superfluous = sorted(set(PICTURES.glob("*.webp")) - {picture_of(example) for example in current})
    if "--check" in options:
        problems = [f"the picture of examples/{name} is not current: run make gallery" for name in stale]
        problems += [f"{path.relative_to(ROOT)} belongs to no example" for path in superfluous]
        if not PAGE.is_file() or PAGE.read_text("utf-8") != page():
            problems.append("docs/gallery.md is not current: run make gallery")
        print("\n".join(problems) or f"{len(current)} pictures of examples are current")
        return 1 if problems else 0
    PICTURES.mkdir(parents=True, exist_ok=True)
    for path in superfluous:
        path.unlink()
    for name in stale:
        print(name, flush=True)
        render(name)
        recorded[name] = current[name]
        HASHES.write_text(
            json.dumps({key: recorded[key] for key in sorted(recorded) if key in current}, indent=1) + "\n"
        )
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
