"""Answers of the size that a model can afford: what each operation made or changed, alike ones together, each finding once.

The whole document comes when it is asked for; what is left out says where it can be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Literal, NamedTuple, cast

import orjson

from blendwright.tool_api.promises import SafetyLevel
from blendwright.tools.object.rename import Rename
from blendwright.values.macro_report import reports_by_caller
from blendwright.values.report import OperationReport, RunReport

Detail = Literal["summary", "operations", "full"]
# Of the text; the structured content says the same to those who read that instead.
MAX_ANSWER_BYTES = 8 * 1024
# How many names of one sort are worth listing, runs of numbered ones counting once.
MAX_NAMES = 12
NUMBERED = re.compile(r"(.*?)([0-9]+)$", re.DOTALL)
NUMBERS = re.compile(r"[0-9]+")
# A family of names is listed in so many runs and one more.
MAX_BREAKS = 2
# A longer number counts nothing.
MAX_DIGITS = 9
# Of numbers that are told.
DIGITS = 3
# The id of an operation of a program: its number, and the line that made it.
OF_A_PROGRAM = re.compile(r"()(\d{5})_L\d+")
# How many changed datablocks of a preview are told with their properties.
MAX_CHANGED = 12
# Parts of an envelope that nobody reads unless something is to be proven.
ON_REQUEST = frozenset({"trace", "tool_version", "fingerprint_before", "fingerprint_after", "handles", "snapshot"})
STRONGEST = "deterministic"
MAX_RESULT_BYTES = 1500
SUCCESS_WORDS = {"succeeded": "ok", "skipped_idempotent": "done before"}
CHANGES = {"created": "made", "changed": "changed", "removed": "removed"}
RENAMED = "renamed"
# Its class is loaded only by who audits.
AUDIT = "scene.audit"
SNAPSHOT = "scene.snapshot"
MAX_SNAPSHOT_BYTES = 4000
# What was only put into collections, by collection.
PUT_INTO = "put into"
# In the order in which they are told.
CHANGE_ORDER = (*CHANGES.values(), RENAMED, PUT_INTO)
# Each is told by its old and its new name, which nobody can guess from others.
MAX_RENAMED = 40
# Of alike operations: notes that differ are about single ones.
MAX_NOTES = 3


# In place of a result that the same reader has.
SAME_AS_EARLIER = "as told before"


class EarlierAnswer(NamedTuple):
    """What a reader knows already: the names that the plan in whose place this one ran had made, what reading operations answered, and
    whether the scene is now just what was previewed."""

    made: frozenset[str] = frozenset()
    results: tuple[Any, ...] = ()
    previewed: bool = False


NO_EARLIER_ANSWER = EarlierAnswer()

# Where the receipts of a request can be read. Where its id stands beside it, it is not said again: those of programs are long.
RECEIPTS = "blendwright://receipts/{request_id}"


# ---------------------------------------------------------------------- reports


def brief_report(
    report: RunReport, detail: Detail, told: EarlierAnswer = NO_EARLIER_ANSWER, *, on_copy: bool = False
) -> dict[str, Any]:
    """What became of a plan: its operations with what they did, those that are alike as one unless all are asked for, without what was
    told already. What ran `on_copy` was allowed by nobody yet, and nothing of it is in the journal."""
    entries = [_entry(operation) for operation in reports_by_caller(report.operations)]
    if on_copy:
        for entry in entries:
            entry.pop("allowed_by", None)
    document: dict[str, Any] = {"status": report.status, "request_id": report.request_id}
    if detail == "summary" and report.ok:
        # The envelope says that it is well, and the link of its receipts has the id.
        document = _lines(entries, told, numbered=report.dialect == "program")
    else:
        if detail == "summary":
            document["operations"] = list(_grouped(entries))
        else:
            document["operations"] = entries
    if report.dialect == "program" and report.remarks:
        document["printed"] = report.remarks["printed"]
    if report.repair and detail == "summary" and report.dialect == "program":
        # Its author changes lines, not operations.
        actions = dict.fromkeys(entry.action for entry in report.repair)
        document["repair"] = {
            action: runs(entry.operation_id for entry in report.repair if entry.action == action) for action in actions
        }
    elif report.repair:
        document["repair"] = [entry.to_json() for entry in report.repair]
    if report.checkpoint is not None:
        document["checkpoint"] = dict(report.checkpoint)
    if moved := _moved(report):
        document["implied_by"] = moved
    if not on_copy and any(operation.done for operation in report.operations):
        if "request_id" in document:
            document["receipts"] = RECEIPTS
        else:
            document["receipts"] = RECEIPTS.format(request_id=report.request_id)
    return document


def brief_result(tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a reading tool answers, without what is said again and again."""
    if tool != AUDIT:
        return dict(result)
    from blendwright.server.answers.audit_report import brief_audit  # which lists names as this module does

    return brief_audit(result)


def answer_content(report: RunReport) -> EarlierAnswer:
    """What whoever reads about a plan knows then: what it made, and what its reading operations answered."""
    entries = [*map(_entry, reports_by_caller(report.operations))]
    made = frozenset(name for one in entries for names in one.get("made", {}).values() for name in names)
    return EarlierAnswer(made, tuple(one["result"] for one in entries if "result" in one))


def _entry(operation: OperationReport) -> dict[str, Any]:
    """One operation. What a reading tool answers is what it was called for; what went wrong is among the findings."""
    entry: dict[str, Any] = {"operation_id": operation.operation_id, "tool": operation.tool, "status": operation.status}
    if operation.status in ("skipped", "rolled_back"):
        entry["why"] = operation.message
    for change, kinds in _changes(operation).items():
        entry[change] = kinds
    if operation.safety_level == SafetyLevel.DESTRUCTIVE.value and operation.status == "succeeded":
        if (operation.receipt or {}).get("approval") is None:
            entry["allowed_by"] = "the policy"
        else:
            entry["allowed_by"] = "a person"
    if operation.done and operation.result is not None:
        if operation.safety_level == SafetyLevel.READ_ONLY.value:
            entry["result"] = _answered(operation.tool, operation.result)
        elif notes := operation.result.get("notes"):
            entry["notes"] = list(notes)
    return entry


def _answered(tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a reading operation of a plan answers."""
    if tool != SNAPSHOT:
        return fitted(brief_result(tool, result), MAX_RESULT_BYTES)
    from blendwright.server.answers.scene_text import scene_lines  # few plans end with a snapshot

    return scene_lines(result, MAX_SNAPSHOT_BYTES)


def _changes(operation: OperationReport) -> dict[str, dict[str, list[str]]]:
    """By what became of them, the datablocks of each kind. What belongs to an object of the same name, and what only holds something
    new, goes without saying."""
    receipts = [operation.receipt or {}]
    if operation.receipt is not None and "steps" in operation.receipt:
        return {}  # a macro's are in its steps
    found: dict[str, dict[str, list[str]]] = {}
    listed = [one for receipt in receipts for one in cast("Sequence[Mapping[str, str]]", receipt.get("changes", ()))]
    objects = {(one["change"], one["name"]) for one in listed if one["kind"] == "objects"}
    if operation.tool == Rename.name and (renamed := _renamed(objects)):
        return {RENAMED: {"objects": [renamed]}}
    if listed and all(one["kind"] == "member" for one in listed):
        for one in listed:
            collection, _, name = one["name"].rpartition(" / ")
            if one["change"] == "created":
                found.setdefault(PUT_INTO, {}).setdefault(collection, []).append(name)
        return found
    touched = any(one["change"] != "changed" for one in listed)
    for one in listed:
        kind, name, change = one["kind"], one["name"], one["change"]
        goes_along = kind != "objects" and (change, name) in objects
        if kind == "member" or goes_along or (change == "changed" and touched):
            continue
        found.setdefault(CHANGES.get(change, change), {}).setdefault(kind, []).append(name)
    return found


def _renamed(objects: Collection[tuple[str, str]]) -> str | None:
    """A receipt has the old name as removed and the new one as created; nobody lost anything."""
    old = [name for change, name in objects if change == "removed"]
    new = [name for change, name in objects if change == "created"]
    if len(old) == len(new) == 1:
        return f"{old[0]} → {new[0]}"
    return None


def _grouped(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Alike ones as one entry, where the first of them stood."""
    for members in _alike(entries):
        first = members[0]
        several = len({one["tool"] for one in members}) > 1
        if several:
            what = "operations"
        else:
            what = first["tool"]
        status = SUCCESS_WORDS.get(first["status"], first["status"])
        group: dict[str, Any] = {"operations": f"{len(members)} x {what} {status}"}
        group["ids"] = runs(one["operation_id"] for one in members)
        group |= {key: first[key] for key in ("why", "allowed_by", "result") if key in first}
        if notes := _notes(members):
            group["notes"] = notes
        for change in CHANGE_ORDER:
            kinds = {kind: None for one in members for kind in one.get(change, ())}
            if kinds:
                group[change] = {
                    kind: families(name for one in members for name in one.get(change, {}).get(kind, ()))
                    for kind in kinds
                }
        yield group


def _alike(entries: Iterable[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    groups: dict[object, list[dict[str, Any]]] = {}
    for number, entry in enumerate(entries):
        # What was skipped is alike whatever it would have done.
        if entry["status"] != "skipped":
            tool = entry["tool"]
        else:
            tool = ""
        alike: object
        if "result" in entry:
            alike = number
        else:
            alike = (
                tool,
                entry["status"],
                entry.get("why"),
                entry.get("allowed_by"),
                tuple(change for change in CHANGE_ORDER if change in entry),
            )
        groups.setdefault(alike, []).append(entry)
    return groups.values()


def _lines(entries: Sequence[dict[str, Any]], told: EarlierAnswer, *, numbered: bool) -> dict[str, Any]:
    """What went well, a line for alike ones: how many, what they made, changed or removed; and what reading ones answered.

    The ids of a program are `numbered` by us, and of no use here. What the same run has made is not told as changed too."""
    if told.previewed:
        return _as_previewed(entries, told)
    made = {name for entry in entries for names in entry.get("made", {}).values() for name in names}
    lines: list[str] = []
    results: dict[str, Any] = {}
    quiet, made_again = 0, 0
    for members in _alike(entries):
        first = members[0]
        details, repeated = _details_of(members, made, told)
        made_again += repeated
        if "result" in first:
            if first["result"] in told.results:
                results[first["operation_id"]] = SAME_AS_EARLIER
            else:
                results[first["operation_id"]] = first["result"]
        if told.made and not details and first["status"] == "succeeded":
            quiet += len(members)  # the plan in whose place it ran did the same
            continue
        if numbered:
            ids = ""
        else:
            ids = f" ({runs(member['operation_id'] for member in members)})"
        status = SUCCESS_WORDS.get(first["status"], first["status"])
        lines.append(f"{len(members)} x {first['tool']} {status}{ids}{details}")
    if quiet:
        lines.append(f"{quiet} {'other ' if lines else ''}operations ok; made again: {made_again}")
    summary: dict[str, Any] = {"operations": lines}
    if results:
        summary["results"] = results
    return summary


def _details_of(
    members: Sequence[dict[str, Any]], made_in_run: Collection[str], told: EarlierAnswer
) -> tuple[str, int]:
    """Describe what alike operations did, after their number and status. Returns also how many names were made again."""
    parts: list[str] = []
    if "allowed_by" in members[0]:
        parts.append(f", allowed by {members[0]['allowed_by']}")
    parts += _collections_filled(members)
    made_again = 0
    for change in CHANGE_ORDER[:-1]:
        names = [name for member in members for names in member.get(change, {}).values() for name in names]
        if change == "made" and told.made:
            new = [name for name in names if name not in told.made]
            repeated = len(names) - len(new)
            made_again += repeated
            if new and repeated:
                parts.append(f", {repeated} made again")
        elif change == "changed":
            new = [name for name in names if name not in made_in_run]
        else:
            new = names
        if new:
            if change == RENAMED:
                listed = runs(new, MAX_RENAMED)
            else:
                listed = families(new)
            parts.append(f", {change} {listed}")
    parts += [f"; {note}" for note in _notes(members)]
    return "".join(parts), made_again


def _collections_filled(members: Sequence[dict[str, Any]]) -> list[str]:
    """Describe which objects were put into each collection."""
    parts: list[str] = []
    for collection in dict.fromkeys(name for member in members for name in member.get(PUT_INTO, ())):
        objects = families(name for member in members for name in member.get(PUT_INTO, {}).get(collection, ()))
        parts.append(f", {PUT_INTO} {collection}: {objects}")
    return parts


def _as_previewed(entries: Sequence[dict[str, Any]], told: EarlierAnswer) -> dict[str, Any]:
    """Of a plan that did just what its preview told, which the hash of the scene proves: how many, and who allowed what."""
    lines = [f"{len(entries)} operation{'s' * (len(entries) > 1)} ok: the scene is as previewed, by its hash"]
    asked = {(one["allowed_by"], one["tool"]): None for one in entries if "allowed_by" in one}
    for who in dict.fromkeys(who for who, _ in asked):
        lines.append(f"allowed by {who}: {', '.join(tool for allowed_by, tool in asked if allowed_by == who)}")
    new = {
        one["operation_id"]: one["result"] for one in entries if one.get("result", None) not in (None, *told.results)
    }
    return {"operations": lines} | ({"results": new} if new else {})


def _notes(members: Iterable[Mapping[str, Any]]) -> list[str]:
    """What may surprise about what these did, each once."""
    notes = [*dict.fromkeys(note for one in members for note in one.get("notes", ()))]
    return [*notes[:MAX_NOTES], *([f"and {len(notes) - MAX_NOTES} more notes"] if notes[MAX_NOTES:] else [])]


def runs(names: Iterable[str], most: int = MAX_NAMES) -> str:
    """Names in their order, numbered ones that follow each other as one: 'Leg_1 … Leg_24'."""
    parts: list[list[str]] = []
    for name in dict.fromkeys(names):
        if parts and follows(parts[-1][-1], name):
            parts[-1].append(name)
        else:
            parts.append([name])
    told = [f"{part[0]} … {part[-1]}" if len(part) > 2 else ", ".join(part) for part in parts[:most]]
    left = sum(map(len, parts[most:]))
    return ", ".join(told) + (f" and {left} more" if left else "")


def families(names: Iterable[str]) -> str:
    """Names in the order of the first of each family: those that differ in their numbers only. Of a large family whose numbers do not
    follow each other, the first, the last and how many there are."""
    grouped: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        grouped.setdefault(NUMBERS.sub("#", name), []).append(name)
    told = [family[0] if len(family) == 1 else _family(family) for family in islice(grouped.values(), MAX_NAMES)]
    left = sum(map(len, islice(grouped.values(), MAX_NAMES, None)))
    return ", ".join(told) + (f" and {left} more" if left else "")


def _family(members: Sequence[str]) -> str:
    in_order = sorted(members, key=_numbers)
    breaks = sum(not follows(one, other) for one, other in pairwise(in_order))
    if breaks <= MAX_BREAKS:
        return runs(in_order)
    return f"{in_order[0]} … {in_order[-1]} ({len(in_order)})"


def _numbers(name: str) -> list[int]:
    return [*map(int, NUMBERS.findall(name))]


def follows(name: str, next_name: str) -> bool:
    one, other = _numbered(name), _numbered(next_name)
    # As many digits, or one more where there are no others: what is between two names can be told from them.
    return one is not None and other is not None and one[1] == other[1] and other[2] == _next(one[2])


def _next(digits: str) -> str:
    if len(digits) <= MAX_DIGITS:
        return str(int(digits) + 1).zfill(len(digits))
    return ""


def _numbered(name: str) -> re.Match[str] | None:
    return OF_A_PROGRAM.match(name) or NUMBERED.match(name)


def rounded(value: Any) -> Any:
    """Numbers with as many digits as a scene in metres needs; single precision shows more than it holds."""
    if isinstance(value, float):
        short = round(value, DIGITS)
        if short.is_integer():
            return int(short)
        return short
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def brief_difference(difference: Mapping[str, Any]) -> dict[str, Any]:
    """How two scenes differ: names by kind, what belongs to an object of the same name goes without saying, and the properties of
    what changed, where these are few."""
    brief: dict[str, Any] = dict(difference)
    for change in ("created", "removed"):
        brief[change] = _by_kind(difference[change])
    # That a collection is new, or is gone, shows in the scene that holds it, and goes without saying.
    moved = any(one["kind"] == "collections" for change in ("created", "removed") for one in difference[change])
    changed = [_rounded(one) for one in difference["changed"] if not (moved and _only_fingerprint(one))]
    if len(changed) > MAX_CHANGED:
        brief["changed"] = _by_kind(changed)
    else:
        brief["changed"] = changed
    brief[RENAMED] = [*dict.fromkeys(f"{one['old']} → {one['name']}" for one in difference.get(RENAMED, ()))]
    return {change: found for change, found in brief.items() if found}


def _rounded(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Its properties in numbers as a person would write them, without those that are the same then, unless all are."""
    properties = [{**one, "old": rounded(one["old"]), "new": rounded(one["new"])} for one in changed["properties"]]
    return {**changed, "properties": [one for one in properties if one["old"] != one["new"]] or changed["properties"]}


def _only_fingerprint(changed: Mapping[str, Any]) -> bool:
    """Whether of the scene's own settings only the hash is another one."""
    properties = [one["property"] for one in changed["properties"]]
    return (changed["kind"], changed["name"], properties) == ("settings", "scene", ["fingerprint"])


def _by_kind(listed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    objects = {one["name"] for one in listed if one["kind"] == "objects"}
    kinds: dict[str, list[str]] = {}
    for one in listed:
        if one["kind"] == "objects" or one["name"] not in objects:
            kinds.setdefault(one["kind"], []).append(one["name"])
    return {kind: families(sorted(names)) for kind, names in kinds.items()}


def _moved(report: RunReport) -> list[str]:
    """What waited for others because of what they make or use, where the ids would have had it run before one of them."""
    groups: dict[str, list[str]] = {}
    for id, others in report.implied_by.items():
        if later := sorted(other for other in others if other > id):
            groups.setdefault(runs(later), []).append(id)
    return [f"{runs(ids)} after {others}" for others, ids in groups.items()]


# ---------------------------------------------------------------------- envelopes


def brief_envelope(document: dict[str, Any]) -> dict[str, Any]:
    """An envelope without what is null or only proves something; findings say what is wrong, and nothing says it again."""
    kept = {key: value for key, value in document.items() if key not in ON_REQUEST and value not in (None, {}, [], "")}
    if kept.get("determinism_class") == STRONGEST and kept.get("ok"):
        del kept["determinism_class"]  # a weaker one is said
    for part in ("details", "result", "error"):
        inner = kept.get(part)
        if isinstance(inner, dict) and part != "result":
            kept[part] = brief_envelope(cast("dict[str, Any]", inner))
    if "details" in kept and set(kept["details"]) <= {"tool"}:
        del kept["details"]
    findings: Sequence[Mapping[str, Any]] = kept.get("details", {}).get("findings", ())
    if findings:
        findings = kept["details"]["findings"] = _each_once(findings)
    if len(findings) > 1 and "message" in kept:
        kept["message"] = f"{len(findings)} findings"
    elif findings and findings[0].get("message") == kept.get("message"):
        # One finding is the message of its answer.
        [only] = findings
        kept["details"]["findings"] = [{key: value for key, value in only.items() if key != "message"}]
    return kept


def _each_once(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What one place of a program says of many operations, at the first of them, with how many there are."""
    groups: dict[object, list[Mapping[str, Any]]] = {}
    for number, one in enumerate(findings):
        if one.get("place"):
            alike = (one["code"], one["message"], one["place"])
        else:
            alike = number
        groups.setdefault(alike, []).append(one)
    return [{**group[0], "times": len(group)} if len(group) > 1 else dict(group[0]) for group in groups.values()]


# How many parts of each list, and signs of each text, are kept: as many as fit.
CUT_LENGTHS = (400, 200, 100, 50, 25, 12, 6, 3, 1)
CHARACTERS_PER_PART = 40


def fitted(document: dict[str, Any], most: int = MAX_ANSWER_BYTES) -> dict[str, Any]:
    """The document, with lists, mappings and texts cut until it is small enough. Takes as long as writing it a few times."""
    if len(orjson.dumps(document)) + 100 <= most:
        return document
    result: dict[str, Any] = {}
    for kept in CUT_LENGTHS:
        cut: dict[str, int] = {}
        # Its own fields stay: whoever reads an answer looks for them.
        result = {key: _cut(value, kept, f"/{key}", cut) for key, value in document.items()}
        result["left_out"] = dict(islice(cut.items(), MAX_NAMES))
        if len(orjson.dumps(result)) <= most:
            break
    return result


def _cut(value: Any, kept: int, at: str, cut: dict[str, int], depth: int = 0) -> Any:
    """The first parts of whatever is longer. The fields of the first two levels are the envelope's own."""
    if isinstance(value, str):
        longest = max(200, kept * CHARACTERS_PER_PART)
        if len(value) > longest:
            cut[at] = len(value) - longest
        return value[:longest]
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        if len(parts) > kept:
            cut[at] = len(parts) - kept
        return [_cut(part, kept, f"{at}/{index}", cut, depth + 1) for index, part in enumerate(parts[:kept])]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        whole = depth < 1 or len(fields) <= max(kept, MAX_NAMES)
        if not whole:
            cut[at] = len(fields) - kept
        if whole:
            chosen = fields.items()
        else:
            chosen = islice(fields.items(), kept)
        return {key: _cut(part, kept, f"{at}/{key}", cut, depth + 1) for key, part in chosen}
    return value
