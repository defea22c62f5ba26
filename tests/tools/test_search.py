"""A tool is found by what people call what it does, and where there is none, that is the answer."""

from __future__ import annotations

import pytest

from blendwright.macros import load_macros
from blendwright.tools.catalog import tools
from blendwright.tools.search import Searchable, find_tools, searchable
from blendwright.tools.search.ranking import stem
from blendwright.tools.search.vocabulary import named, topics, words_for
from support.suite.in_one_test import in_one_test
from tools.search_queries import QUERIES

MACROS = load_macros(None, tools())
EVERYTHING = [
    *map(searchable, tools().values()),
    *(Searchable(macro.name, macro.document.summary, tuple(macro.properties)) for macro in MACROS.values()),
]


@in_one_test({query: query for query in QUERIES})
def test_a_query_finds_its_tool_first_or_says_that_there_is_none(query: str) -> None:
    found, expected = find_tools(query, EVERYTHING), QUERIES[query]
    if expected is None:
        assert found.message.startswith("No tool ") and "ython" in found.message, found
    else:
        assert found.names[:1] == (expected,) and not found.message, found


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(QUERIES) >= 80 and list(QUERIES.values()).count(None) >= 20
    assert len({tool for tool in QUERIES.values() if tool}) >= 40


def test_what_no_tool_does_is_not_answered_with_one_that_shares_a_word() -> None:
    for query in ("grease pencil", "grease-pencil the sphere", "line art", "draw stroke"):
        found = find_tools(query, EVERYTHING)
        assert "mesh.create_primitive" not in found.names and "grease_pencils" in found.message, found


def test_every_tool_and_macro_has_words_and_no_other_thing_has() -> None:
    assert named() == tools().keys() | MACROS.keys()
    assert all(words_for(name) for name in named())
    assert sum(len(words_for(name)) for name in named()) + sum(len(topic.words) for topic in topics()) > 500


def test_a_macro_of_a_workspace_is_found_by_its_own_words() -> None:
    own = Searchable("house.chimney", "Build a chimney with a cowl.", ("height",))
    assert find_tools("chimney cowl", [*EVERYTHING, own]).names[0] == "house.chimney"


def test_a_tool_that_a_session_does_not_have_is_not_named() -> None:
    without = [one for one in EVERYTHING if one.name != "place.scatter"]
    assert "place.scatter" not in find_tools("scatter rocks", without).names


def test_nonsense_finds_nothing() -> None:
    for query in ("flurbify", "???", "the of and", "x" * 200):
        assert find_tools(query, EVERYTHING).names == (), query


@pytest.mark.parametrize(
    "forms", ["unwrap unwraps unwrapping unwrapped", "body bodies", "bake bakes baking baked", "mesh meshes", "glass"]
)
def test_forms_of_a_word_are_one_word(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1
