"""Short answers about plans: the changes of each operation, similar operations together, each finding once.

The complete document is available on request. An answer that omits something says where to read it.
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
# The largest answer in bytes of its text. The structured content repeats the text for other readers.
MAX_ANSWER_BYTES = 8 * 1024
# The most names in a list. A run of consecutively numbered names counts once.
MAX_NAMES = 12
NUMBERED = re.compile(r"(.*?)([0-9]+)$", re.DOTALL)
NUMBERS = re.compile(r"[0-9]+")
# The most gaps in the numbers of a family of names that is still listed as runs.
MAX_BREAKS = 2
# The most digits of a number in a run of names.
MAX_DIGITS = 9
# Decimal places of reported numbers.
DIGITS = 3
# The id of a program's operation: its number and the program line that made it.
OF_A_PROGRAM = re.compile(r"()(\d{5})_L\d+")
# The most changed datablocks that a preview lists with their properties.
MAX_CHANGED = 12
# Parts of an envelope that matter only for proofs.
ON_REQUEST = frozenset({"trace", "tool_version", "fingerprint_before", "fingerprint_after", "handles", "snapshot"})
STRONGEST = "deterministic"
MAX_RESULT_BYTES = 1500
SUCCESS_WORDS = {"succeeded": "ok", "skipped_idempotent": "done before"}
CHANGES = {"created": "made", "changed": "changed", "removed": "removed"}
RENAMED = "renamed"
# Named here, because importing the tool's class would slow down every start.
AUDIT = "scene.audit"
SNAPSHOT = "scene.snapshot"
MAX_SNAPSHOT_BYTES = 4000
# The key of objects that an operation only put into collections.
PUT_INTO = "put into"
# The order of changes in a report.
CHANGE_ORDER = (*CHANGES.values(), RENAMED, PUT_INTO)
# The most renamed objects in a list, each with its old and new name.
MAX_RENAMED = 40
# The most notes of a group of similar operations.
MAX_NOTES = 3


# Replaces a result that an earlier answer contained.
SAME_AS_EARLIER = "as in the earlier answer"


class EarlierAnswer(NamedTuple):
    """The content of earlier answers, which a new answer does not repeat.

    `made` holds the names that the replaced plan created, `results` the results of its read-only operations.
    `previewed` says that the scene is now exactly as a preview showed it.
    """

    made: frozenset[str] = frozenset()
    results: tuple[Any, ...] = ()
    previewed: bool = False


NO_EARLIER_ANSWER = EarlierAnswer()

# The resource with the receipts of a request. A document that contains the request's id has this template unfilled, because ids are long.
RECEIPTS = "blendwright://receipts/{request_id}"


# ---------------------------------------------------------------------- reports


def brief_report(
    report: RunReport, detail: Detail, earlier: EarlierAnswer = NO_EARLIER_ANSWER, *, on_copy: bool = False
) -> dict[str, Any]:
    """Return a short report of a plan.

    The detail `summary` puts similar operations together and omits what an `earlier` answer contained. A plan that
    ran `on_copy` has no approvals and no receipts in the journal.
    """
    entries = [_entry(operation) for operation in reports_by_caller(report.operations)]
    if on_copy:
        for entry in entries:
            entry.pop("allowed_by", None)
    document: dict[str, Any] = {"status": report.status, "request_id": report.request_id}
    if detail == "summary" and report.ok:
        # The envelope reports the success, and the link to the receipts contains the id.
        document = _lines(entries, earlier, numbered=report.dialect == "program")
    elif detail == "summary":
        document["operations"] = list(_grouped(entries))
    else:
        document["operations"] = entries

    if report.dialect == "program" and report.remarks:
        document["printed"] = report.remarks["printed"]
    if report.repair and detail == "summary" and report.dialect == "program":
        # The author of a program changes lines, so the ids of operations are enough.
        ids_by_action: dict[str, list[str]] = {}
        for repair in report.repair:
            ids_by_action.setdefault(repair.action, []).append(repair.operation_id)
        document["repair"] = {action: runs(ids) for action, ids in ids_by_action.items()}
    elif report.repair:
        document["repair"] = [entry.to_json() for entry in report.repair]
    if report.checkpoint is not None:
        document["checkpoint"] = dict(report.checkpoint)
    implied = _implied_order(report)
    if implied:
        document["implied_by"] = implied
    if not on_copy and any(operation.done for operation in report.operations):
        if "request_id" in document:
            document["receipts"] = RECEIPTS
        else:
            document["receipts"] = RECEIPTS.format(request_id=report.request_id)
    return document


def brief_result(tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a read-only tool in a short form."""
    if tool != AUDIT:
        return dict(result)
    from blendwright.server.answers.audit_report import brief_audit  # imports this module

    return brief_audit(result)


def answer_content(report: RunReport) -> EarlierAnswer:
    """Return what an answer about this report contains: the created names and the results of read-only operations."""
    entries = [_entry(operation) for operation in reports_by_caller(report.operations)]
    results = tuple(entry["result"] for entry in entries if "result" in entry)
    return EarlierAnswer(frozenset(_created_names(entries)), results)


def _created_names(entries: Iterable[Mapping[str, Any]]) -> set[str]:
    created: set[str] = set()
    for entry in entries:
        for names in entry.get("made", {}).values():
            created.update(names)
    return created


def _entry(operation: OperationReport) -> dict[str, Any]:
    """Return the entry of one operation: its status, its changes, who allowed it, and its result or notes."""
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
            entry["result"] = _brief_operation_result(operation.tool, operation.result)
        elif notes := operation.result.get("notes"):
            entry["notes"] = list(notes)
    return entry


def _brief_operation_result(tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a read-only operation, cut to the size that a plan's answer has room for."""
    if tool != SNAPSHOT:
        return fitted(brief_result(tool, result), MAX_RESULT_BYTES)
    from blendwright.server.answers.scene_text import scene_lines  # imports this module

    return scene_lines(result, MAX_SNAPSHOT_BYTES)


def _changes(operation: OperationReport) -> dict[str, dict[str, list[str]]]:
    """Return the changed datablocks by change and kind.

    Omits data that belongs to a listed object of the same name, and containers that changed only because they hold
    something new.
    """
    receipt = operation.receipt or {}
    if "steps" in receipt:
        return {}  # the receipts of a macro's steps have its changes
    changes = cast("Sequence[Mapping[str, str]]", receipt.get("changes", ()))
    objects = {(change["change"], change["name"]) for change in changes if change["kind"] == "objects"}

    if operation.tool == Rename.name:
        renamed = _renamed(objects)
        if renamed:
            return {RENAMED: {"objects": [renamed]}}

    names: dict[str, dict[str, list[str]]] = {}
    if changes and all(change["kind"] == "member" for change in changes):
        for change in changes:
            collection, _, name = change["name"].rpartition(" / ")
            if change["change"] == "created":
                names.setdefault(PUT_INTO, {}).setdefault(collection, []).append(name)
        return names

    creates_or_removes = any(change["change"] != "changed" for change in changes)
    for change in changes:
        kind, name, what = change["kind"], change["name"], change["change"]
        belongs_to_object = kind != "objects" and (what, name) in objects
        if kind == "member" or belongs_to_object or (what == "changed" and creates_or_removes):
            continue
        names.setdefault(CHANGES.get(what, what), {}).setdefault(kind, []).append(name)
    return names


def _renamed(objects: Collection[tuple[str, str]]) -> str | None:
    """Return "old → new" for a receipt that removes one object and creates one, else None."""
    removed = [name for change, name in objects if change == "removed"]
    created = [name for change, name in objects if change == "created"]
    if len(removed) == len(created) == 1:
        return f"{removed[0]} → {created[0]}"
    return None


def _grouped(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one entry for each group of similar operations, in the order of their first members."""
    for members in _alike(entries):
        first = members[0]
        label = first["tool"]
        if any(member["tool"] != first["tool"] for member in members):
            label = "operations"
        status = SUCCESS_WORDS.get(first["status"], first["status"])
        group: dict[str, Any] = {"operations": f"{len(members)} x {label} {status}"}
        group["ids"] = runs(member["operation_id"] for member in members)
        for key in ("why", "allowed_by", "result"):
            if key in first:
                group[key] = first[key]
        notes = _notes(members)
        if notes:
            group["notes"] = notes
        for change in CHANGE_ORDER:
            names = _names_by_kind(members, change)
            if names:
                group[change] = {kind: families(kind_names) for kind, kind_names in names.items()}
        yield group


def _names_by_kind(members: Iterable[Mapping[str, Any]], change: str) -> dict[str, list[str]]:
    """Return the names with this change of all members, by kind."""
    names: dict[str, list[str]] = {}
    for member in members:
        for kind, member_names in member.get(change, {}).items():
            names.setdefault(kind, []).extend(member_names)
    return names


def _alike(entries: Iterable[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    """Return groups of entries with the same tool, status, reason, approval and sorts of changes. An entry with a
    result is a group of its own.
    """
    groups: dict[object, list[dict[str, Any]]] = {}
    for number, entry in enumerate(entries):
        # Skipped operations of all tools are similar.
        tool = entry["tool"]
        if entry["status"] == "skipped":
            tool = ""
        changes = tuple(change for change in CHANGE_ORDER if change in entry)
        key: object = (tool, entry["status"], entry.get("why"), entry.get("allowed_by"), changes)
        if "result" in entry:
            key = number
        groups.setdefault(key, []).append(entry)
    return groups.values()


def _lines(entries: Sequence[dict[str, Any]], earlier: EarlierAnswer, *, numbered: bool) -> dict[str, Any]:
    """Return a line for each group of similar operations that succeeded, and the results of read-only operations.

    A line has the number of operations and the names that they created, changed or removed. A name that this run
    created is not listed as changed.
    The ids of a program are `numbered` by Blendwright, so lines omit them.
    """
    if earlier.previewed:
        return _as_previewed(entries, earlier)
    created_names = _created_names(entries)
    lines: list[str] = []
    results: dict[str, Any] = {}
    unchanged, made_again = 0, 0
    for members in _alike(entries):
        first = members[0]
        details, repeated = _details_of(members, created_names, earlier)
        made_again += repeated
        if "result" in first:
            if first["result"] in earlier.results:
                results[first["operation_id"]] = SAME_AS_EARLIER
            else:
                results[first["operation_id"]] = first["result"]
        if earlier.made and not details and first["status"] == "succeeded":
            unchanged += len(members)  # the replaced plan did the same
            continue
        ids = ""
        if not numbered:
            ids = f" ({runs(member['operation_id'] for member in members)})"
        status = SUCCESS_WORDS.get(first["status"], first["status"])
        lines.append(f"{len(members)} x {first['tool']} {status}{ids}{details}")
    if unchanged:
        which = "operations"
        if lines:
            which = "other operations"
        lines.append(f"{unchanged} {which} ok; made again: {made_again}")

    summary: dict[str, Any] = {"operations": lines}
    if results:
        summary["results"] = results
    return summary


def _details_of(
    members: Sequence[dict[str, Any]], made_in_run: Collection[str], earlier: EarlierAnswer
) -> tuple[str, int]:
    """Return the end of a line, which says what similar operations did, and how many names they made again."""
    parts: list[str] = []
    if "allowed_by" in members[0]:
        parts.append(f", allowed by {members[0]['allowed_by']}")
    parts += _collections_filled(members)
    made_again = 0
    for change in CHANGE_ORDER[:-1]:
        names: list[str] = []
        for member in members:
            for kind_names in member.get(change, {}).values():
                names += kind_names
        if change == "made" and earlier.made:
            new = [name for name in names if name not in earlier.made]
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
    """Return for each collection which objects the operations put into it."""
    objects_by_collection = _names_by_kind(members, PUT_INTO)
    return [f", {PUT_INTO} {collection}: {families(objects)}" for collection, objects in objects_by_collection.items()]


def _as_previewed(entries: Sequence[dict[str, Any]], earlier: EarlierAnswer) -> dict[str, Any]:
    """Return the report of a plan whose scene has the hash that the preview reported: approvals and new results only."""
    noun = "operations"
    if len(entries) == 1:
        noun = "operation"
    lines = [f"{len(entries)} {noun} ok: the scene is as previewed, by its hash"]

    tools_by_approver: dict[str, dict[str, None]] = {}
    new_results: dict[str, Any] = {}
    for entry in entries:
        if "allowed_by" in entry:
            tools_by_approver.setdefault(entry["allowed_by"], {})[entry["tool"]] = None
        result = entry.get("result")
        if result is not None and result not in earlier.results:
            new_results[entry["operation_id"]] = result
    lines += [f"allowed by {approver}: {', '.join(tools)}" for approver, tools in tools_by_approver.items()]

    report: dict[str, Any] = {"operations": lines}
    if new_results:
        report["results"] = new_results
    return report


def _notes(members: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the notes of the operations, each once, and the number of further notes."""
    distinct: dict[str, None] = {}
    for member in members:
        distinct.update(dict.fromkeys(member.get("notes", ())))
    notes = list(distinct)
    if len(notes) > MAX_NOTES:
        return [*notes[:MAX_NOTES], f"and {len(notes) - MAX_NOTES} more notes"]
    return notes


def runs(names: Iterable[str], most: int = MAX_NAMES) -> str:
    """Return the names in their order as text, with consecutively numbered names as one: 'Leg_1 … Leg_24'."""
    parts: list[list[str]] = []
    for name in dict.fromkeys(names):
        if parts and follows(parts[-1][-1], name):
            parts[-1].append(name)
        else:
            parts.append([name])

    shown: list[str] = []
    for part in parts[:most]:
        if len(part) > 2:
            shown.append(f"{part[0]} … {part[-1]}")
        else:
            shown += part
    return _listed(shown, sum(len(part) for part in parts[most:]))


def _listed(shown: Sequence[str], omitted: int) -> str:
    text = ", ".join(shown)
    if omitted:
        return f"{text} and {omitted} more"
    return text


def families(names: Iterable[str]) -> str:
    """Return the names as text, with names that differ only in their numbers together as one family.

    A large family whose numbers are not consecutive is shown by its first name, its last name and its size.
    """
    grouped: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        grouped.setdefault(NUMBERS.sub("#", name), []).append(name)
    members = list(grouped.values())
    shown = [_family(family) for family in members[:MAX_NAMES]]
    return _listed(shown, sum(len(family) for family in members[MAX_NAMES:]))


def _family(members: Sequence[str]) -> str:
    if len(members) == 1:
        return members[0]
    in_order = sorted(members, key=_numbers)
    breaks = sum(not follows(name, next_name) for name, next_name in pairwise(in_order))
    if breaks <= MAX_BREAKS:
        return runs(in_order)
    return f"{in_order[0]} … {in_order[-1]} ({len(in_order)})"


def _numbers(name: str) -> list[int]:
    return [*map(int, NUMBERS.findall(name))]


def follows(name: str, next_name: str) -> bool:
    """Return whether the two names differ only in their number and the second number is the next one."""
    match, next_match = _numbered(name), _numbered(next_name)
    if match is None or next_match is None:
        return False
    # `_next` keeps leading zeros, so that a reader can infer the names between two names.
    return match[1] == next_match[1] and next_match[2] == _next(match[2])


def _next(digits: str) -> str:
    if len(digits) <= MAX_DIGITS:
        return str(int(digits) + 1).zfill(len(digits))
    return ""


def _numbered(name: str) -> re.Match[str] | None:
    return OF_A_PROGRAM.match(name) or NUMBERED.match(name)


def rounded(value: Any) -> Any:
    """Return the value with numbers rounded to three decimal places, the precision that a scene in metres needs."""
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
    """Return the difference of two scenes in a short form: names by kind, and the properties of changes if there are
    few.

    Data that belongs to an object of the same name is omitted.
    """
    brief: dict[str, Any] = dict(difference)
    for change in ("created", "removed"):
        brief[change] = _by_kind(difference[change])

    # A new or removed collection changes the hash of its scene, which is not worth reporting.
    collections_changed = any(
        datablock["kind"] == "collections" for datablock in (*difference["created"], *difference["removed"])
    )
    changed: list[dict[str, Any]] = []
    for datablock in difference["changed"]:
        if not (collections_changed and _only_fingerprint(datablock)):
            changed.append(_rounded(datablock))
    if len(changed) > MAX_CHANGED:
        brief["changed"] = _by_kind(changed)
    else:
        brief["changed"] = changed
    renames = [f"{rename['old']} → {rename['name']}" for rename in difference.get(RENAMED, ())]
    brief[RENAMED] = list(dict.fromkeys(renames))
    return {change: entries for change, entries in brief.items() if entries}


def _rounded(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the datablock with rounded property values, without properties that are then equal, unless all of them
    are.
    """
    properties: list[dict[str, Any]] = []
    for change in changed["properties"]:
        old, new = rounded(change["old"]), rounded(change["new"])
        if old != new:
            properties.append({**change, "old": old, "new": new})
    return {**changed, "properties": properties or changed["properties"]}


def _only_fingerprint(changed: Mapping[str, Any]) -> bool:
    """Return whether only the hash of the scene's own settings changed."""
    properties = [change["property"] for change in changed["properties"]]
    return (changed["kind"], changed["name"], properties) == ("settings", "scene", ["fingerprint"])


def _by_kind(datablocks: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    objects = {datablock["name"] for datablock in datablocks if datablock["kind"] == "objects"}
    kinds: dict[str, list[str]] = {}
    for datablock in datablocks:
        if datablock["kind"] == "objects" or datablock["name"] not in objects:
            kinds.setdefault(datablock["kind"], []).append(datablock["name"])
    return {kind: families(sorted(names)) for kind, names in kinds.items()}


def _implied_order(report: RunReport) -> list[str]:
    """Return the operations that ran after an operation with a later id, because they use what that operation makes."""
    groups: dict[str, list[str]] = {}
    for id, predecessors in report.implied_by.items():
        later = sorted(predecessor for predecessor in predecessors if predecessor > id)
        if later:
            groups.setdefault(runs(later), []).append(id)
    return [f"{runs(ids)} after {predecessors}" for predecessors, ids in groups.items()]


# ---------------------------------------------------------------------- envelopes


def brief_envelope(document: dict[str, Any]) -> dict[str, Any]:
    """Return an envelope without null fields and fields that only prove something. Each problem is reported once, by
    its finding.
    """
    brief = {key: value for key, value in document.items() if key not in ON_REQUEST and value not in (None, {}, [], "")}
    if brief.get("determinism_class") == STRONGEST and brief.get("ok"):
        del brief["determinism_class"]  # only a weaker class is reported
    for part in ("details", "error"):
        inner = brief.get(part)
        if isinstance(inner, dict):
            brief[part] = brief_envelope(cast("dict[str, Any]", inner))
    if "details" in brief and set(brief["details"]) <= {"tool"}:
        del brief["details"]

    findings: Sequence[Mapping[str, Any]] = brief.get("details", {}).get("findings", ())
    if findings:
        findings = brief["details"]["findings"] = _without_repetition(findings)
    if len(findings) > 1 and "message" in brief:
        brief["message"] = f"{len(findings)} findings"
    elif findings and findings[0].get("message") == brief.get("message"):
        # The message of the only finding is already the message of the answer.
        only = dict(findings[0])
        del only["message"]
        brief["details"]["findings"] = [only]
    return brief


def _without_repetition(findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the findings with each problem of a program line once. `times` is the number of operations that have it."""
    groups: dict[object, list[Mapping[str, Any]]] = {}
    for number, finding in enumerate(findings):
        key: object = number
        if finding.get("place"):
            key = (finding["code"], finding["message"], finding["place"])
        groups.setdefault(key, []).append(finding)

    distinct: list[dict[str, Any]] = []
    for group in groups.values():
        finding = dict(group[0])
        if len(group) > 1:
            finding["times"] = len(group)
        distinct.append(finding)
    return distinct


# The lengths to which `fitted` cuts lists and mappings, one after the other, until the document is small enough.
CUT_LENGTHS = (400, 200, 100, 50, 25, 12, 6, 3, 1)
CHARACTERS_PER_PART = 40


def fitted(document: dict[str, Any], most: int = MAX_ANSWER_BYTES) -> dict[str, Any]:
    """Return the document with lists, mappings and strings cut until it has at most `most` bytes as JSON.

    `left_out` names what was cut, by JSON pointer.
    """
    if len(orjson.dumps(document)) + 100 <= most:
        return document
    result: dict[str, Any] = {}
    for length in CUT_LENGTHS:
        cut: dict[str, int] = {}
        # The top-level fields stay, because readers look for them.
        result = {key: _cut(value, length, f"/{key}", cut) for key, value in document.items()}
        result["left_out"] = dict(islice(cut.items(), MAX_NAMES))
        if len(orjson.dumps(result)) <= most:
            break
    return result


def _cut(value: Any, length: int, at: str, cut: dict[str, int], depth: int = 0) -> Any:
    """Return the value with longer strings, lists and mappings cut to `length` parts, and add to `cut` how much is
    missing.

    The fields of the first two levels belong to the envelope and stay.
    """
    if isinstance(value, str):
        longest = max(200, length * CHARACTERS_PER_PART)
        if len(value) > longest:
            cut[at] = len(value) - longest
        return value[:longest]
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        if len(parts) > length:
            cut[at] = len(parts) - length
        return [_cut(part, length, f"{at}/{index}", cut, depth + 1) for index, part in enumerate(parts[:length])]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        is_complete = depth < 1 or len(fields) <= max(length, MAX_NAMES)
        chosen = fields.items()
        if not is_complete:
            cut[at] = len(fields) - length
            chosen = islice(fields.items(), length)
        return {key: _cut(part, length, f"{at}/{key}", cut, depth + 1) for key, part in chosen}
    return value
