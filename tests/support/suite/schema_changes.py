"""Whether a changed JSON Schema still keeps its word, structurally and on the safe side: what cannot be judged counts as breaking.

Of what others write (plans, macros, policies) everything that was accepted must be accepted still. Of what others read (results,
receipts, reports) nothing may go away or become something else; new fields may come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, cast

Side = Literal["written", "read"]
Schema = dict[str, Any]

NOTES = frozenset({"title", "description", "examples", "$id", "$schema", "$comment", "$defs", "deprecated"})
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
JUDGED = frozenset(
    {"type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems", "anyOf", "oneOf",
     "$ref", "default", *LOWER, *UPPER}
)  # fmt: skip


def breaking(old: Schema, new: Schema, side: Side) -> list[str]:
    """Every breaking change, with its place."""
    return list(_Comparison(old, new, side).of(old, new, "", ()))


class _Comparison:
    def __init__(self, old: Schema, new: Schema, side: Side) -> None:
        self._old, self._new, self._side = old, new, side

    def of(self, old: Any, new: Any, at: str, seen: tuple[tuple[str, str], ...]) -> Iterator[str]:
        if isinstance(old, bool) or isinstance(new, bool):
            if old != new and (new is False if self._side == "written" else old is False):
                yield f"{at}: {old} became {new}"
            return
        refs = (str(old.get("$ref")), str(new.get("$ref")))
        if refs != ("None", "None"):
            if refs in seen:
                return
            seen = (*seen, refs)
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        yield from self._types(old, new, at)
        yield from self._values(old, new, at)
        yield from self._bounds(old, new, at)
        yield from self._fields(old, new, at, seen)
        yield from self._parts(old, new, at, seen)
        yield from self._branches(old, new, at, seen)
        for word in sorted((old.keys() | new.keys()) - JUDGED - NOTES):
            if _text(old.get(word)) != _text(new.get(word)):
                yield f"{at}: {word} changed"
        if self._side == "written" and not _kept(old.get("default"), new.get("default")):
            yield f"{at}: the default changed"

    def _narrower(self, old: set[str], new: set[str]) -> bool:
        return not (old <= new if self._side == "written" else new <= old)

    def _types(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        was, now = _types(old), _types(new)
        if was != now and self._narrower(was, now):
            yield f"{at}: type {sorted(was)} became {sorted(now)}"

    def _values(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        was, now = _values(old), _values(new)
        if was == now or (was is None and self._side == "read") or (now is None and self._side == "written"):
            return
        if was is None or now is None or self._narrower(was, now):
            yield f"{at}: the choices changed"

    def _bounds(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        for words, sign in ((LOWER, 1), (UPPER, -1)):
            for word in words:
                was, now = old.get(word), new.get(word)
                if was == now:
                    continue
                tighter = now is not None and (was is None or sign * now > sign * was)
                if tighter == (self._side == "written"):
                    yield f"{at}: {word} {was} became {now}"

    def _fields(self, old: Schema, new: Schema, at: str, seen: tuple[tuple[str, str], ...]) -> Iterator[str]:
        was, now = old.get("properties", {}), new.get("properties", {})
        must, must_now = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(was.keys() - now.keys()):
            if self._side == "read" or new.get("additionalProperties") is False:
                yield f"{at}/{name}: gone"
        for name in sorted(must_now - must) if self._side == "written" else ():
            yield f"{at}/{name}: is required now"
        for name in sorted(must - must_now) if self._side == "read" else ():
            yield f"{at}/{name}: may be missing now"
        for name in sorted(was.keys() & now.keys()):
            yield from self.of(was[name], now[name], f"{at}/{name}", seen)

    def _parts(self, old: Schema, new: Schema, at: str, seen: tuple[tuple[str, str], ...]) -> Iterator[str]:
        # Additional fields of what others read are no promise.
        words = ("items", "additionalProperties") if self._side == "written" else ("items",)
        for word in words:
            yield from self.of(old.get(word, True), new.get(word, True), f"{at}/{word}", seen)
        was, now = old.get("prefixItems", []), new.get("prefixItems", [])
        if len(was) != len(now):
            yield f"{at}: prefixItems changed"
        for place, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from self.of(one, other, f"{at}/{place}", seen)

    def _branches(self, old: Schema, new: Schema, at: str, seen: tuple[tuple[str, str], ...]) -> Iterator[str]:
        for word in ("anyOf", "oneOf"):
            was, now = old.get(word), new.get(word)
            if (was is None) != (now is None):
                yield f"{at}: {word} changed"
            if was is None or now is None:
                continue
            if self._side == "written":
                lost = [one for one in was if not any(not list(self.of(one, other, at, seen)) for other in now)]
            else:
                lost = [other for other in now if not any(not list(self.of(one, other, at, seen)) for one in was)]
            if lost:
                yield f"{at}: {len(lost)} branches of {word} have nothing that goes with them"


def _resolved(part: Schema, root: Schema) -> Schema:
    while "$ref" in part:
        named = root["$defs"][part["$ref"].rpartition("/")[2]]
        part = {**named, **{word: value for word, value in part.items() if word != "$ref"}}
    return part


def _types(part: Schema) -> set[str]:
    found: Any = part.get("type")
    if found is None:
        return {"any"}
    listed = {found} if isinstance(found, str) else set(found)
    return listed | ({"integer"} if "number" in listed else set())


def _values(part: Schema) -> set[str] | None:
    if "const" in part:
        return {_text(part["const"])}
    return {_text(value) for value in part["enum"]} if "enum" in part else None


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _kept(old: Any, new: Any) -> bool:
    """Whether a default still says what it said; a field that came since is an addition like any other."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        return all(name in after and _kept(value, after[name]) for name, value in before.items())
    return _text(old) == _text(new)
