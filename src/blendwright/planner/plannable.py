"""A table of the dialects in which models write plans: the prompt's rules, the choice of tools, and the schema of the
answer.

The planner knows nothing else about a dialect; `dialects` reads and runs its plans. The choice of tools follows the
words of the request, plus the tools that nearly every scene needs. A plan may also use other tools of its contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from blendwright.dialects.lessons import (
    GEONODES_EXAMPLE,
    GEONODES_RULES,
    MORE_RULES,
    OPERATIONS_EXAMPLE,
    PLAN_RULES,
    PROGRAM_EXAMPLE,
    PROGRAM_RULES,
    SCENE_RULES,
)
from blendwright.planner.port import ResponseSchema
from blendwright.planner.response_schema import geonodes_schema, operations_schema, program_schema
from blendwright.policy.policy import Verdict, ruling
from blendwright.policy.session_contract import ContractTerms
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import score, words_of

PlannableDialect = Literal["operations", "geonodes", "program"]
Tools = tuple[AnyTool, ...]
# Tools in a prompt and its response schema; see docs/planner.md.
MAX_TOOLS = 22

CORE = (
    "mesh.create_primitive",
    "material.ensure_principled",
    "material.assign",
    "object.transform",
    "object.set_parent",
    "object.duplicate",
    "place.around",
    "place.on_surface",
    "light.create",
    "camera.create",
    "camera.frame_objects",
    "collection.create",
    "modifier.add",
)

# Everyday words that no declaration contains, each with the words of declarations for it.
SYNONYMS: dict[str, str] = {
    "animate": "animation keyframe",
    "background": "backdrop world sky",
    "beside": "align place",
    "bigger": "transform scale",
    "brighter": "light",
    "copies": "duplicate",
    "copy": "duplicate",
    "erase": "delete",
    "fence": "duplicate grid array",
    "forest": "scatter",
    "hide": "visibility",
    "hole": "modifier boolean",
    "label": "text",
    "lamp": "light",
    "letters": "text",
    "move": "transform",
    "photo": "render camera",
    "picture": "render camera",
    "pipe": "curve",
    "random": "scatter",
    "remove": "delete",
    "rotate": "transform",
    "rounded": "modifier bevel",
    "row": "distribute grid array",
    "save": "export",
    "smaller": "transform scale",
    "smooth": "shade modifier",
    "spin": "animation keyframe",
    "sun": "light sky",
    "sunset": "sky light",
    "turn": "transform",
    "wall": "mesh",
    "window": "modifier boolean",
    "word": "text",
    "write": "text",
}

# Words that are too common in declarations to select any of them.
SMALL_WORDS = """
a about above all an and any are as at be below by each every five for four from give has have in into is it its make me my new of on one
onto or our out over please set should six so some than that the their them then there these this those three to two up us use want
was which with would you your
"""
STOP_WORDS = frozenset(words_of(SMALL_WORDS))


@dataclass(frozen=True, slots=True)
class PlannerLesson:
    """The planner's knowledge of one dialect. `tells_request_id` is True if its documents contain the request id."""

    rules: tuple[str, ...]
    example: str
    tools_title: str
    tells_request_id: bool
    tools: Callable[[str, Mapping[str, AnyTool], ContractTerms], Tools]
    schema: Callable[[Tools], ResponseSchema]


LESSONS: dict[PlannableDialect, PlannerLesson] = {
    "operations": PlannerLesson(
        (PLAN_RULES, MORE_RULES),
        OPERATIONS_EXAMPLE,
        "The tools",
        True,
        lambda request, tools, terms: choose_tools(request, permitted_tools(tools, terms)),
        operations_schema,
    ),
    "program": PlannerLesson(
        (PROGRAM_RULES, SCENE_RULES),
        PROGRAM_EXAMPLE,
        "The tools",
        False,
        lambda request, tools, terms: choose_tools(request, permitted_tools(tools, terms)),
        lambda tools: program_schema(),
    ),
    "geonodes": PlannerLesson(
        (GEONODES_RULES,),
        GEONODES_EXAMPLE,
        "The payloads are the arguments of these tools",
        False,
        lambda request, tools, terms: (tools["geonodes.node_tree"], tools["geonodes.patch"]),
        lambda tools: geonodes_schema(*tools),
    ),
}


def permitted_tools(tools: Mapping[str, AnyTool], terms: ContractTerms) -> dict[str, AnyTool]:
    """Return the tools that the contract does not forbid for all arguments."""
    rules, capabilities = terms.constraints.rules, set(terms.capabilities)
    permitted: dict[str, AnyTool] = {}
    for name, tool in tools.items():
        verdict = ruling(rules, name, tool.safety_mode, tool.safety_level.value).verdict
        if verdict is not Verdict.DENY and capabilities.issuperset(tool.requires.capabilities):
            permitted[name] = tool
    return permitted


def choose_tools(
    request: str, tools: Mapping[str, AnyTool], *, always: Iterable[str] = (), limit: int = MAX_TOOLS
) -> tuple[AnyTool, ...]:
    """Return at most `limit` tools, most relevant first.

    `always` lists tools that an earlier plan used or a finding named.
    """
    words = _search_words(request)
    ranked = sorted((-score(tool, words), name) for name, tool in tools.items())
    named = [name for name in always if name in tools]
    by_words = [name for rank, name in ranked if rank]
    core = [name for name in CORE if name in tools]
    # A long request must not displace the tools that every scene needs.
    order = [*named, *by_words[: max(0, limit - len(core) - len(named))], *core, *by_words]
    return tuple(tools[name] for name in list(dict.fromkeys(order))[:limit])


def _search_words(request: str) -> list[str]:
    words = [word for word in words_of(request) if word not in STOP_WORDS and len(word) > 2]
    synonyms: list[str] = []
    for word in words:
        synonyms += _synonyms(word).split()
    return words + synonyms


def _synonyms(word: str) -> str:
    return SYNONYMS.get(word) or SYNONYMS.get(word.removesuffix("s"), "")
