from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Name, PictureFolder, Result, optional
from blendwright.tool_api.mentions import makes
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE
from blendwright.tools.checks import conflict, invalid
from blendwright.tools.image.color_spaces import DATA
from blendwright.tools.image.formats import READABLE, foreign_file_problems
from blendwright.tools.image.load import load_checked
from blendwright.tools.material.ensure_principled import principled_nodes, with_nodes
from blendwright.tools.material.texture_names import Guess, guess_all
from blendwright.tools.material.textures import COLOURS, Projection, Textures, build_textures, texture_differences

Role = Literal[
    "base_color", "ambient_occlusion", "metallic", "roughness", "gloss", "alpha", "emission", "normal",
    "normal_directx", "height",
]  # fmt: skip
CARPET = ("image.create", {"name": "Carpet", "size": [8, 8], "type": "COLOR_GRID"})
COLOR = ("image.save", {"name": "Carpet", "path": "carpet_basecolor.png"})
ROUGH = ("image.save", {"name": "Carpet", "path": "carpet_roughness.jpg"})
NORMAL = ("image.save", {"name": "Carpet", "path": "carpet_normal_dx.png"})


class FromTexturesArgs(Args):
    name: Annotated[Name, makes(Kind.MATERIAL)] = Field(description="Name of the new material; must be free.")
    folder: PictureFolder = Field(
        description="Folder with the pictures, such as wood_basecolor.jpg and wood_normal.png."
    )
    maps: dict[Role, str] | None = optional("Purpose -> file in the folder, for files whose names do not show it.")
    repeat: float | None = optional("Number of repeats of the images across the UV map.", gt=0.0, le=10_000.0)
    projection: Projection | None = optional("BOX for meshes without a UV map. Default: UV.")
    normal_strength: float | None = optional("Strength of the normal map.", ge=0.0, le=10.0)
    bump_distance: float | None = optional("Height of the bumps of a height map in metres.", ge=0.0, le=100.0)


class MapFound(Result):
    map: str = Field(description="Purpose of the picture.")
    file: str = Field(description="Name of the file.")
    image: str = Field(description="Name of the image datablock.")
    because: str = Field(description="The word in its name that shows the purpose, or `as given`.")


class MaterialMade(Result):
    material: str = Field(description="Name of the material.")
    maps: list[MapFound] = Field(description="The pictures that the material uses.")
    left_over: list[str] = Field(description="Pictures of the folder that the material does not use.")


class FromTextures(Tool[FromTexturesArgs, MaterialMade]):
    """Create a material from a folder of PBR pictures; the purpose of each picture is guessed from its name.

    The result lists the guesses. The images are packed. Two pictures for one purpose are refused, but OpenGL normals
    are preferred to DirectX normals, and roughness to gloss. A normal map whose name does not show the convention
    counts as OpenGL.
    """

    name = "material.from_textures"
    promises = (
        SAFE_ONE_TIME_WRITE.but(replayable=False)
        .writes_to(Kind.MATERIAL, Kind.IMAGE)
        .needs("file_read", "material_write")
    )
    makes_others = True
    examples = (
        Example({"name": "Rug", "folder": "."}, CARPET, COLOR, ROUGH, NORMAL),
        Example({"name": "Rug", "folder": ".", "maps": {"metallic": "carpet_roughness.jpg"}}, CARPET, COLOR, ROUGH),
    )

    def check(self, scene: Scene, args: FromTexturesArgs) -> Findings:
        yield from scene.name_conflicts(Kind.MATERIAL, args.name, "/name")
        files = _pictures(scene, args)
        for role, file in (args.maps or {}).items():
            if file not in files:
                message = f"the folder contains no picture '{file}'"
                yield invalid(message, f"/maps/{role}", f"Its pictures: {_listed(files)}.")
        guesses_by_role, unassigned = guess_all(files, _chosen(args))
        if not guesses_by_role:
            if unassigned:
                fix = f"Give the purpose of these pictures in maps: {_listed(unassigned)}."
            else:
                fix = "Name a folder that contains pictures."
            yield invalid("no picture in the folder has a name that shows its purpose", "/folder", fix)
        for role, guesses in guesses_by_role.items():
            if len(guesses) > 1:
                names = _listed([candidate.file for candidate in guesses])
                fix = f'Choose one, as maps: {{"{role}": "{guesses[0].file}"}}.'
                yield invalid(f"several pictures are for {role}: {names}", "/folder", fix)
            for candidate in guesses:
                yield from scene.name_conflicts(Kind.IMAGE, _image_name(args, candidate), "/name")
                yield from foreign_file_problems(_file_path(scene, args, candidate.file), candidate.file, "/folder")
        for preferred, alternative in (("normal", "normal_directx"), ("roughness", "gloss")):
            if preferred in guesses_by_role and alternative in guesses_by_role:
                message = f"a material cannot use both {preferred} and {alternative}"
                yield invalid(message, f"/maps/{alternative}", "Leave one out.")
        if "ambient_occlusion" in guesses_by_role and "base_color" not in guesses_by_role:
            message = "an ambient occlusion map needs a base colour map, and the folder has none"
            yield conflict(message, "/folder", "Add a base colour map, or remove this map from the folder.")

    def apply(self, scene: Scene, args: FromTexturesArgs) -> MaterialMade:
        guesses_by_role, unassigned = guess_all(_pictures(scene, args), _chosen(args))
        maps: list[MapFound] = []
        for _, guesses in sorted(guesses_by_role.items()):
            guess = guesses[0]
            name = _image_name(args, guess)
            color_space = DATA
            if guess.role in COLOURS:
                color_space = None
            path = str(Path(args.folder) / guess.file)
            load_checked(scene, name, path, _file_path(scene, args, guess.file), color_space, pack=True, at="/folder")
            maps.append(MapFound(map=guess.role, file=guess.file, image=name, because=guess.word))
        material = with_nodes(scene, scene.create(Kind.MATERIAL, args.name))
        node = principled_nodes(material.node_tree)[0]
        build_textures(scene, _textures(args, maps), material.node_tree, node)
        if "emission" in guesses_by_role:
            node.inputs["Emission Strength"].default_value = 1.0
        return MaterialMade(material=args.name, maps=maps, left_over=unassigned)

    def verify(self, scene: Scene, args: FromTexturesArgs, result: MaterialMade) -> Findings:
        node = principled_nodes(scene.require(Kind.MATERIAL, args.name, "/name").node_tree)[0]
        for socket, role in texture_differences(_textures(args, result.maps), node):
            yield conflict(f"the texture of {socket} is a different one", f"/maps/{role}", "Choose other maps.")


def _textures(args: FromTexturesArgs, maps: list[MapFound]) -> Textures:
    images = {texture.map: texture.image for texture in maps}
    directx = images.pop("normal_directx", None)
    if directx is not None:
        images["normal"] = directx
    return Textures.model_validate(
        {
            **images,
            "normal_directx": directx is not None,
            "repeat": args.repeat,
            "projection": args.projection,
            "normal_strength": args.normal_strength,
            "bump_distance": args.bump_distance,
        }
    )


def _chosen(args: FromTexturesArgs) -> dict[str, str]:
    return dict[str, str]((args.maps or {}).items())


def _pictures(scene: Scene, args: FromTexturesArgs) -> list[str]:
    folder = Path(scene.input_file(args.folder))
    return sorted(file.name for file in folder.iterdir() if file.suffix.lower().removeprefix(".") in READABLE)


def _file_path(scene: Scene, args: FromTexturesArgs, file: str) -> str:
    return str(Path(scene.input_file(args.folder)) / file)


def _image_name(args: FromTexturesArgs, guess: Guess) -> str:
    return f"{args.name} {guess.role.replace('_', ' ')}"


def _listed(names: list[str]) -> str:
    listing = ", ".join(names[:10])
    if len(names) > 10:
        return f"{listing} …"
    return listing
