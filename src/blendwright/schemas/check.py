"""Checks of a document against a JSON Schema, or of arguments against their model: every problem as a finding with its
pointer and fix.

Arguments first pass JSON Schema, because its pointers are exact. Then the model fills in defaults, trims, and checks
the rules that a schema cannot express.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any, cast

import jsonschema_rs
from pydantic import BaseModel, ValidationError

from blendwright.util.json_shapes import fields_of
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding, did_you_mean, pointer_of

# Characters of a wrong value in a message.
MAX_SHOWN_CHARACTERS = 60
# Levels of references and alternatives to follow, since references may form a cycle.
MAX_DEPTH = 16
# Rounds of corrected spelling. The first corrects the word that selects an alternative; the next ones correct words inside it.
MAX_RESPELLINGS = 3

Advice = Callable[[str], str]

# Exceptions of building a checker for an invalid schema, or for one with references that lead nowhere.
BROKEN_SCHEMA = (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError)


class Checker:
    """A compiled schema without references to other documents.

    `advice` returns the fix for a pointer if the problem itself suggests none. Building a checker raises one of
    `BROKEN_SCHEMA` for an invalid schema, which only the macros of a workspace can contain.
    """

    def __init__(self, schema: dict[str, Any], fault: Fault, advice: Advice) -> None:
        # Messages call the value "it", because they must not repeat a document of megabytes. The validator is offline, because
        # a workspace's schema must not refer to files or to other machines.
        self._validator: Any = jsonschema_rs.validator_for(schema, mask="it", offline=True)
        self._schema = schema
        self._fault = fault
        self._advice = advice

    def fits(self, document: Any) -> bool:
        """Return True if there are no findings, much faster than `findings`."""
        return self._validator.is_valid(document)

    def findings(self, document: Any) -> Iterator[Finding]:
        problems = self._validator.iter_errors(document)
        return islice(chain.from_iterable(map(self._explained, problems)), MOST_FINDINGS)

    def _explained(self, error: Any) -> Iterator[Finding]:
        kind, pointer = error.kind, pointer_of(error.instance_path)
        if kind.name == "additionalProperties":
            fields = self._properties(error.schema_path)
            for name in kind.unexpected:
                cure = did_you_mean(name, fields, otherwise=f"Leave it out. Known: {', '.join(fields)}.")
                yield Finding(
                    self._fault, f"unknown field '{name[:MAX_SHOWN_CHARACTERS]}'", pointer + pointer_of([name]), cure
                )
        elif kind.name == "required":
            yield Finding(self._fault, f"'{kind.property}' is missing", pointer, f"Add '{kind.property}'.")
        elif kind.name == "enum":
            choices = [str(option) for option in kind.options]
            cure = did_you_mean(str(error.instance), choices, otherwise=f"One of: {', '.join(choices)}.")
            yield Finding(self._fault, f"{_shown(error.instance)} is not a choice here", pointer, cure)
        elif kind.name == "const":
            only = _shown(kind.expected_value)
            yield Finding(self._fault, f"{_shown(error.instance)} is not a choice here", pointer, f"Only {only} is.")
        elif kind.name in {"anyOf", "oneOf"} and kind.context:
            yield from self._explained_alternatives(error)
        else:
            message = error.message.removeprefix("it ")
            yield Finding(self._fault, f"{_shown(error.instance)} {message}", pointer, self._advice(pointer))

    def _explained_alternatives(self, error: Any) -> Iterator[Finding]:
        context = error.kind.context
        choices = _discriminators(context)
        if choices is None:
            for inner in _likeliest(context, len(error.instance_path)):
                yield from self._explained(inner)
            return
        pointer, value, words = choices
        cure = did_you_mean(str(value), words, otherwise=f"One of: {', '.join(words)}.")
        yield Finding(self._fault, f"{_shown(value)} is not a choice here", pointer, cure)

    def respelled(self, document: Any) -> Any:
        """Return the document with every choice as its schema spells it, or None if nothing changes.

        A choice may differ from the schema in capitals, spaces or hyphens.
        """
        changed = False
        for error in islice(self._validator.iter_errors(document), MOST_FINDINGS):
            for path, value, words in _wrong_choices(error):
                alike = [word for word in words if _plain(word) == _plain(value)]
                if len(alike) == 1:
                    document, changed = _with(document, path, alike[0]), True
        if changed:
            return document
        return None

    def _properties(self, path: Sequence[Any]) -> list[str]:
        """Return the fields that the failing schema knows, following references on the way there."""
        part_schema: Any = self._schema
        for part in path[:-1]:
            if part == "$ref":
                part_schema = resolved(self._schema, part_schema["$ref"])
            else:
                part_schema = part_schema[part]
        return sorted(part_schema.get("properties", {}))


def model_problems(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Yield the path and the message of each problem that a pydantic model found."""
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        yield problem["loc"], problem["msg"]


def _discriminators(branches: Sequence[Sequence[Any]]) -> tuple[str, Any, list[str]] | None:
    """Return the pointer, the value and all expected words, if every branch of a union fails on its word at one pointer."""
    pointers: set[str] = set()
    words: list[str] = []
    value = None
    for branch in branches:
        constant = next((error for error in branch if error.kind.name == "const"), None)
        if constant is None:
            return None
        if not words:
            value = constant.instance
        pointers.add(pointer_of(constant.instance_path))
        words.append(str(constant.kind.expected_value))
    if len(pointers) != 1:
        return None
    return pointers.pop(), value, words


def _wrong_choices(error: Any) -> Iterator[tuple[list[Any], str, list[str]]]:
    """Yield the path, the word and the valid choices for each word that is not a valid choice."""
    kind = error.kind
    if kind.name in {"enum", "const"} and isinstance(error.instance, str):
        if kind.name == "enum":
            words = kind.options
        else:
            words = [kind.expected_value]
        yield list(error.instance_path), error.instance, [word for word in words if isinstance(word, str)]
    elif kind.name in {"anyOf", "oneOf"} and kind.context:
        choices = _discriminators(kind.context)
        if choices is not None and isinstance(choices[1], str):
            constant = next(inner for branch in kind.context for inner in branch if inner.kind.name == "const")
            yield list(constant.instance_path), choices[1], choices[2]
        elif choices is None:
            for inner in _likeliest(kind.context, len(error.instance_path)):
                yield from _wrong_choices(inner)


def _plain(word: str) -> str:
    return word.strip().casefold().replace(" ", "_").replace("-", "_")


def _with(document: Any, path: Sequence[Any], value: Any) -> Any:
    """Return a copy of the document with another value at a path."""
    if not path:
        return value
    first, *inner_path = path
    if isinstance(document, list):
        items = list(cast("list[Any]", document))
        items[first] = _with(items[first], inner_path, value)
        return items
    return {**document, first: _with(document[first], inner_path, value)}


def _likeliest(branches: Sequence[Sequence[Any]], depth: int) -> Sequence[Any]:
    """Return the branch that the author probably meant: one that does not fail on the value's type or on its discriminator."""

    def strangeness(branch: Sequence[Any]) -> tuple[int, int]:
        mismatches = 0
        for error in branch:
            if error.kind.name == "const" or (error.kind.name == "type" and len(error.instance_path) == depth):
                mismatches += 1
        return mismatches, len(branch)

    return min(branches, key=strangeness)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return text[: MAX_SHOWN_CHARACTERS - 3] + "..."


def whole_numbers(value: Any, schema: Any, root: Any) -> Any:
    """Return the value with whole floats as integers wherever its JSON Schema expects an integer.

    JSON has only one kind of number, so 8.0 means 8. `root` is the schema that references lead into. Of alternatives, those that
    fit the kind of the value apply.
    """
    if not isinstance(schema, dict) or not isinstance(value, (float, dict, list)):
        return value
    rules = cast("dict[str, Any]", schema)
    if isinstance(value, float):
        if value.is_integer() and _kinds(rules, root) == {"integer"}:
            return int(value)
        return value
    for part in _parts(rules, root):
        if isinstance(value, dict):
            value = _whole_members(cast("dict[str, Any]", value), part, root)
        else:
            value = _whole_items(cast("list[Any]", value), part, root)
    return cast("Any", value)


def _whole_members(members: dict[str, Any], part: dict[str, Any], root: Any) -> dict[str, Any]:
    fields, default_schema = part.get("properties", {}), part.get("additionalProperties")
    return {name: whole_numbers(value, fields.get(name, default_schema), root) for name, value in members.items()}


def _whole_items(items: list[Any], part: dict[str, Any], root: Any) -> list[Any]:
    schemas = chain(part.get("prefixItems", []), repeat(part.get("items")))
    return [whole_numbers(item, schema, root) for item, schema in zip(items, schemas, strict=False)]


def _parts(schema: dict[str, Any], root: Any, depth: int = 0) -> list[dict[str, Any]]:
    """Return a schema and all schemas that it combines or refers to."""
    parts = [schema]
    if depth == MAX_DEPTH:
        return parts
    inner_schemas: list[Any] = []
    for word in ("allOf", "anyOf", "oneOf"):
        inner_schemas += schema.get(word, [])
    if str(schema.get("$ref", "")).startswith("#/"):
        inner_schemas.append(resolved(root, schema["$ref"]))
    for inner in inner_schemas:
        if isinstance(inner, dict):
            parts += _parts(cast("dict[str, Any]", inner), root, depth + 1)
    return parts


def _kinds(schema: dict[str, Any], root: Any) -> set[str]:
    """Return the kinds of number that a schema mentions: "integer", "number"."""
    kinds: set[str] = set()
    for part in _parts(schema, root):
        types: Any = part.get("type", [])
        if isinstance(types, str):
            types = [types]
        kinds |= {"integer", "number"}.intersection(types)
    return kinds


def resolved(schema: Any, reference: str) -> dict[str, Any]:
    """Return the target of a reference inside a schema; an empty schema if the reference does not lead directly to one."""
    target: Any = schema
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        target = fields_of(target).get(key)
    return fields_of(target)


class ModelChecker:
    """A model with its compiled schema. `otherwise` is the fix for arguments without a description."""

    def __init__(self, model: type[BaseModel], schema: dict[str, Any], otherwise: str) -> None:
        self._model = model
        self._schema = schema
        self._advice = argument_advice(schema.get("properties", {}), otherwise)
        self._checker = Checker(schema, Fault.ARGS_INVALID, self._advice)

    def validate(self, raw: Any) -> tuple[Any, tuple[Finding, ...]]:
        """Return the model without findings, or None with all findings.

        A choice in other capitals is valid; the model has it as its schema spells it.
        """
        if not self._checker.fits(raw):
            raw, findings = self._respelled(raw)
            if findings:
                return None, findings
        try:
            return self._validated(raw), ()
        except ValidationError as error:
            return None, tuple(self._findings(raw, error))

    def _respelled(self, raw: Any) -> tuple[Any, tuple[Finding, ...]]:
        findings = tuple(self._checker.findings(raw))
        for _ in range(MAX_RESPELLINGS):
            if not findings:
                break
            respelled = self._checker.respelled(raw)
            if respelled is None:
                break
            raw, findings = respelled, tuple(self._checker.findings(respelled))
        return raw, findings

    def _validated(self, raw: Any) -> BaseModel:
        """Return the model. For JSON Schema 8.0 is an integer, so a model that requires an integer gets 8."""
        try:
            return self._model.model_validate(raw)
        except ValidationError as error:
            if not any(problem["type"] == "int_type" for problem in error.errors()):
                raise
            return self._model.model_validate(whole_numbers(raw, self._schema, self._schema))

    def _findings(self, raw: Any, error: ValidationError) -> Iterator[Finding]:
        for loc, message in model_problems(error):
            pointer = pointer_of(_path_in(raw, loc))
            yield Finding(Fault.ARGS_INVALID, message, pointer, self._advice(pointer))


def argument_advice(properties: Mapping[str, Any], otherwise: str) -> Advice:
    """Return advice that quotes the description of the wrong argument."""

    def advice(pointer: str) -> str:
        name = pointer.removeprefix("/").partition("/")[0]
        description = properties.get(name, {}).get("description")
        if description:
            return f"{name}: {description}"
        return otherwise

    return advice


def _path_in(raw: Any, loc: Sequence[int | str]) -> Iterator[int | str]:
    """Yield the parts of a location that lead through the arguments; pydantic also names the members of unions on the
    way.
    """
    value = raw
    for number, part in enumerate(loc, start=1):
        if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            value = cast("Any", value)[part]
            yield part
        elif isinstance(value, dict) and number == len(loc) and part not in cast("dict[str, Any]", value).values():
            yield part  # an omitted argument; a member of a union would have the name of one of the values
