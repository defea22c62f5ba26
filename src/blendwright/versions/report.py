"""The report of a comparison of two Blenders: as a document for programs, and as a page with pictures for people."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from blendwright.versions.compare_content import DesignNote, PropertyPart
from blendwright.versions.pictures import PicturePair
from blendwright.versions.replay import OpenedCommit, OperationPart

REPORT, PAGE = "report.json", "report.html"
# The number of entries of a list in a receipt. The report has all.
MAX_RECEIPT_ENTRIES = 100


@dataclass(frozen=True, slots=True)
class ComparedScene:
    """A scene in both Blenders. `how` describes how the new Blender got it."""

    how: str
    parts: tuple[PropertyPart, ...]
    pictures: PicturePair | None


@dataclass(frozen=True, slots=True)
class VersionReport:
    """The report about a workspace or file, which is its `subject`.

    For a file, the fields from `operations` on are empty.
    """

    subject: str
    old: str
    new: str
    scenes: tuple[ComparedScene, ...]
    notes: Mapping[DesignNote, int]
    operations: tuple[OperationPart, ...] = ()
    pictures: Mapping[int, PicturePair] = field(default_factory=dict[int, PicturePair])
    """The pictures of operations whose scenes differ, by commit."""
    opened: tuple[OpenedCommit, ...] = ()
    commits: int = 0
    redone: int = 0

    @property
    def same(self) -> bool:
        return not self.operations and not any(scene.parts for scene in self.scenes)

    def to_json(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "from": self.old,
            "to": self.new,
            "same": self.same,
            "commits": self.commits,
            "redone": self.redone,
            "opened": [asdict(commit) for commit in self.opened],
            "operations": [
                asdict(part) | {"pictures": _pictures(self.pictures.get(part.commit))} for part in self.operations
            ],
            "scenes": [
                {
                    "how": scene.how,
                    "parts": [asdict(part) for part in scene.parts],
                    "pictures": _pictures(scene.pictures),
                }
                for scene in self.scenes
            ],
            "by_design": [
                asdict(note) | {"count": count} for note, count in sorted(self.notes.items(), key=_note_order)
            ],
        }

    def write(self, directory: Path) -> str:
        """Write both files, and return the SHA-256 of the document."""
        document = orjson.dumps(self.to_json(), option=orjson.OPT_INDENT_2)
        (directory / REPORT).write_bytes(document)
        (directory / PAGE).write_text("".join(_page(self)), "utf-8")
        return hashlib.sha256(document).hexdigest()

    def for_receipt(self, sha256: str) -> dict[str, Any]:
        """Return the summary of the report for the receipt of the upgrade."""
        parted = [{"commit": part.commit, "kind": part.kind, "tool": part.tool} for part in self.operations]
        places = [" ".join(part.place()) for scene in self.scenes for part in scene.parts]
        return {
            "from_blender": self.old,
            "to_blender": self.new,
            "same": self.same,
            "operations_parted": parted[:MAX_RECEIPT_ENTRIES],
            "properties_parted": len(places),
            "properties": list(dict.fromkeys(places))[:MAX_RECEIPT_ENTRIES],
            "report_sha256": sha256,
        }


def _pictures(pair: PicturePair | None) -> dict[str, Any] | None:
    if pair is None:
        return None
    return asdict(pair)


def _note_order(entry: tuple[DesignNote, int]) -> tuple[str, str, str]:
    return (entry[0].type, entry[0].property, entry[0].what)


_STYLE = (
    "body{font:15px/1.45 sans-serif;margin:2em;max-width:1500px}table{border-collapse:collapse}"
    "td,th{padding:2px 12px 2px 0;text-align:left;vertical-align:top}td{font-family:monospace;font-size:13px}"
    "img{max-width:100%;margin:.5em 0}h2{margin-top:2em}"
)


def _page(report: VersionReport) -> Iterator[str]:
    title = f"{report.subject}: Blender {report.old} → {report.new}"
    yield f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{_STYLE}</style>"
    yield f"<h1>{html.escape(title)}</h1><p>{html.escape(summary(report))}</p>"
    for part in report.operations:
        yield f"<h2>{html.escape(heading(part))}</h2>"
        if part.message:
            yield f"<p>{html.escape(part.message)}</p>"
        rows = [("result " + result.path, result.old, result.new) for result in part.results]
        yield _table(rows + _property_rows(part.properties), report)
        yield _image(report.pictures.get(part.commit))
    for scene in report.scenes:
        yield f"<h2>{html.escape(scene.how)}</h2>"
        yield _table(_property_rows(scene.parts), report)
        yield _image(scene.pictures)
    if report.opened:
        yield "<h2>Not replayed: both opened their checkpoints</h2>"
        yield _table([(f"commit {opened.commit}", opened.operation_id, opened.tool) for opened in report.opened], None)
    yield "<h2>Different by design of the two Blenders</h2>"
    notes = sorted(report.notes.items(), key=_note_order)
    yield _table(
        [(f"{note.type}.{note.property}", f"{note.what} ({count} times)", note.example) for note, count in notes], None
    )


def _property_rows(parts: Sequence[PropertyPart]) -> list[tuple[str, Any, Any]]:
    return [(" ".join(part.place()), part.old, part.new) for part in parts]


def _table(rows: Sequence[tuple[str, Any, Any]], report: VersionReport | None) -> str:
    if not rows:
        return "<p>nothing</p>"
    if report is None:
        head = ""
    else:
        head = f"<tr><th>where<th>{html.escape(report.old)}<th>{html.escape(report.new)}"
    cells = ("".join(f"<td>{html.escape(str(cell))}" for cell in row) for row in rows)
    return f"<table>{head}{''.join(f'<tr>{row}' for row in cells)}</table>"


def _image(pair: PicturePair | None) -> str:
    if pair is None:
        return ""
    return f'<img src="{html.escape(pair.side_by_side)}" alt="both pictures and their difference">'


def heading(part: OperationPart) -> str:
    problem = {
        "failed": "fails",
        "result": "has another result",
        "scene": "leaves another scene",
        "opened": "opens as another scene",
        "begun": "begins with another scene",
    }[part.kind]
    return f"commit {part.commit}: {part.tool} ({part.operation_id}) {problem}"


def summary(report: VersionReport) -> str:
    replayed = differences = ""
    if report.commits:
        replayed = f"{report.redone} of {report.commits} commits ran again in both, {len(report.opened)} were opened. "
        differences = f"{len(report.operations)} operations differ. "
    if report.same:
        return f"{replayed}The scenes are the same."
    scenes = "; ".join(f"{scene.how}: {len(scene.parts)} properties differ" for scene in report.scenes)
    return f"{replayed}{differences}{scenes}."
