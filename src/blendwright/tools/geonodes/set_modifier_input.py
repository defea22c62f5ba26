"""Tool geonodes.set_modifier_input"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Name, Result, optional
from blendwright.tool_api.mentions import PERHAPS_A_NAME
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import invalid
from blendwright.tools.geonodes.examples import OF_CUBE, SIZED_CUBE
from blendwright.tools.geonodes.modifier_target import NodesModifierArgs, nodes_modifier, tree_problems
from blendwright.tools.modifier import inputs, stored_inputs
from blendwright.tools.modifier.settings import InputValue
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Socket types with inputs that can be read from an attribute instead of a value.
FIELDS = frozenset(
    {
        "NodeSocketFloat", "NodeSocketInt", "NodeSocketBool", "NodeSocketVector", "NodeSocketColor", "NodeSocketRotation",
        "NodeSocketMatrix",
    }
)  # fmt: skip


class SetModifierInputArgs(NodesModifierArgs):
    socket: Annotated[str, Field(min_length=1, max_length=256)] = Field(description="Name or identifier of the input.")
    value: Annotated[InputValue | None, PERHAPS_A_NAME] = optional(
        "The new value; objects, collections, materials and images by name."
    )
    attribute: Name | None = optional("Name of an attribute to read instead of a value.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.value is None) == (self.attribute is None):
            raise PydanticCustomError("one_of", "give either 'value' or 'attribute'")
        return self


class ModifierInputSet(Result):
    """The input that was set."""

    object: str = Field(description="Name of the object.")
    modifier: str = Field(description="Name of the modifier.")
    identifier: str = Field(description="Identifier of the input.")
    changed: bool = Field(description="False if the input was already as requested.")


class SetModifierInput(Tool[SetModifierInputArgs, ModifierInputSet]):
    """Set an input of a geometry-nodes modifier to a value or to the name of an attribute.

    The sockets of the node group determine valid values.
    """

    name = "geonodes.set_modifier_input"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("modifier_write")
    examples = (
        Example({"object": "Cube", "socket": "Size", "value": 3.5}, *SIZED_CUBE),
        Example({**OF_CUBE, "socket": "Socket_2", "attribute": "width"}, *SIZED_CUBE),
    )

    def check(self, scene: Scene, args: SetModifierInputArgs) -> Findings:
        problems = list(tree_problems(scene, args.object, args.modifier))
        yield from problems
        if problems:
            return
        group = _modifier(scene, args).node_group
        sockets = inputs.inputs_named(group, args.socket)
        if len(sockets) != 1:
            yield inputs.unclear_input(group, sockets, args.socket, "/socket")
        elif args.value is not None:
            modifier, values = _modifier(scene, args), {args.socket: args.value}
            problems += inputs.problems(scene, group, values, "", modifier)
            problems += inputs.animated_inputs(scene, modifier, values, "")
            for finding in problems:
                yield Finding(finding.fault, finding.message, "/value", finding.cure)
        elif sockets[0].socket_type not in FIELDS:
            message = f"input '{args.socket}' of type {sockets[0].socket_type} cannot be read from an attribute"
            yield invalid(message, "/attribute", "Give a value.")

    def apply(self, scene: Scene, args: SetModifierInputArgs) -> ModifierInputSet:
        modifier = _modifier(scene, args)
        identifier: str = inputs.inputs_named(modifier.node_group, args.socket)[0].identifier
        changed = any(self._differences(scene, args, modifier))
        if changed:
            scene.edit(modifier.id_data)
            if args.value is not None:
                inputs.write(scene, modifier, {args.socket: args.value})
            stored_inputs.put_attribute(modifier, identifier, args.attribute)
            # Blender does not notice writes to modifier inputs without this tag.
            modifier.id_data.update_tag()
        name = modifier.name
        return ModifierInputSet(object=args.object, modifier=name, identifier=identifier, changed=changed)

    def verify(self, scene: Scene, args: SetModifierInputArgs, result: ModifierInputSet) -> Findings:
        at = ""
        if args.attribute is None:
            at = "/value"
        for label in self._differences(scene, args, _modifier(scene, args)):
            yield Finding(Fault.SCENE_CONFLICT, f"{label} is not as requested", at)

    def _differences(self, scene: Scene, args: SetModifierInputArgs, modifier: Block) -> Iterator[str]:
        identifier: str = inputs.inputs_named(modifier.node_group, args.socket)[0].identifier
        if stored_inputs.attribute_of(modifier, identifier) != args.attribute:
            yield f"the attribute of {identifier}"
        if args.value is not None:
            yield from inputs.differences(scene, modifier, {args.socket: args.value})


def _modifier(scene: Scene, args: SetModifierInputArgs) -> Block:
    return nodes_modifier(scene, args.object, args.modifier)
