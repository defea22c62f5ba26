"""Build the site of the documents: `python scripts/build_docs.py MKDOCS TARGET` (make docs).

Pages are those of docs/, the README as its front page, and CONTRIBUTING, CHANGELOG and the examples beside them, with their links made to
fit. The build is strict: a link that leads nowhere, or a page that no menu has, ends it. The site loads nothing from elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGING = ROOT / "build" / "docs"
CONFIGURATION = ROOT / "packaging" / "mkdocs.yml"
# Documents outside of docs/, and the page that each becomes.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "examples/plans/broken/README.md": "broken-plan.md",
}
LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)#\s]+)((?:#[^)]*)?\))")
OUTSIDE = re.compile(r"^(src|tests|bench|scripts|requirements|packaging|examples|typings)(/|$)")


def main(mkdocs: str, target: str) -> int:
    shutil.rmtree(STAGING, ignore_errors=True)
    shutil.copytree(ROOT / "docs", STAGING)
    for source, page in PAGES.items():
        (STAGING / page).write_text((ROOT / source).read_text("utf-8"), "utf-8")
    origins = {page: Path(source) for source, page in PAGES.items()}
    problems: list[str] = []
    for document in sorted(STAGING.rglob("*.md")):
        name = document.relative_to(STAGING).as_posix()
        origin = origins.get(name, Path("docs", name))
        text = LINK.sub(
            lambda link, at=origin, page=name: _fitted(link, at, page, problems), document.read_text("utf-8")
        )
        document.write_text(text, "utf-8")
    for problem in problems:
        print(problem)
    command = [
        mkdocs,
        "build",
        "--strict",
        "--config-file",
        str(CONFIGURATION),
        "--site-dir",
        str(Path(target).resolve()),
    ]
    return 1 if problems else subprocess.run(command).returncode


def _fitted(link: re.Match[str], origin: Path, page: str, problems: list[str]) -> str:
    """The link as it must read on the page. What is no page, such as a source file, is named and not linked."""
    before, path, after = link.groups()
    parts: list[str] = []
    for part in (origin.parent / path).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    place = "/".join(parts)
    if not (ROOT / place).exists():
        problems.append(f"{origin}: the link to {path} leads nowhere")
    if place in PAGES:
        destination = PAGES[place]
    elif place.startswith("docs/"):
        destination = place.removeprefix("docs/")
        if (ROOT / place).is_dir():
            destination += "/README.md"
    elif OUTSIDE.match(place) or place in ("LICENSE", "Makefile", "pyproject.toml"):
        return f"{before}{'../' * page.count('/')}sources.md{')'}"
    else:
        destination = place
    return f"{before}{'../' * page.count('/')}{destination}{after}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
