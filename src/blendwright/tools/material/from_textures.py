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
        description="Folder with its pictures, such as wood_basecolor.jpg and wood_normal.png."
    )
    maps: dict[Role, str] | None = optional("What a file of the folder is for, where its name does not tell.")
    repeat: float | None = optional("How often the images repeat across the UV map.", gt=0.0, le=10_000.0)
    projection: Projection | None = optional("BOX for meshes without a UV map; else UV.")
    normal_strength: float | None = optional("Strength of the normal map.", ge=0.0, le=10.0)
    bump_distance: float | None = optional("Height of the bumps of a height map in metres.", ge=0.0, le=100.0)


class MapFound(Result):
    map: str = Field(description="What the picture is for.")
    file: str = Field(description="Name of the file.")
    image: str = Field(description="Name of the image that was made of it.")
    because: str = Field(description="The word of its name that said so, or `as given`.")


class MaterialMade(Result):
    material: str = Field(description="Name of the material.")
    maps: list[MapFound] = Field(description="The pictures that it is made of.")
    left_over: list[str] = Field(description="Pictures of the folder that it does not use.")


class FromTextures(Tool[FromTexturesArgs, MaterialMade]):
    """Make a material of a folder of PBR pictures: what each is for is guessed by its name, and told.

    The images are packed. Two pictures for the same thing are refused, but OpenGL normals go before DirectX ones, and roughness before
    gloss. A normal map without a word for it is taken for OpenGL."""

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
                yield invalid(
                    f"there is no picture '{file}' in the folder", f"/maps/{role}", f"Files: {_listed(files)}."
                )
        found, left = guess_all(files, _chosen(args))
        if not found:
            if left:
                cure = f"Say with maps what they are for: {_listed(left)}."
            else:
                cure = "Name a folder with pictures in it."
            yield invalid("no picture in the folder says what it is for", "/folder", cure)
        for role, guesses in found.items():
            if len(guesses) > 1:
                names = _listed([each.file for each in guesses])
                cure = f'Choose one, as maps: {{"{role}": "{guesses[0].file}"}}.'
                yield invalid(f"several pictures are for {role}: {names}", "/folder", cure)
            for each in guesses:
                yield from scene.name_conflicts(Kind.IMAGE, _image_name(args, each), "/name")
                yield from foreign_file_problems(_place(scene, args, each.file), each.file, "/folder")
        for one, other in (("normal", "normal_directx"), ("roughness", "gloss")):
            if one in found and other in found:
                yield invalid(f"{one} and {other} cannot both be", f"/maps/{other}", "Leave one out.")
        if "ambient_occlusion" in found and "base_color" not in found:
            message = "an ambient occlusion map darkens a base colour, and there is none"
            yield conflict(message, "/folder", "Add a base colour, or take the map out of the folder.")

    def apply(self, scene: Scene, args: FromTexturesArgs) -> MaterialMade:
        found, left = guess_all(_pictures(scene, args), _chosen(args))
        maps: list[MapFound] = []
        for each in (guesses[0] for _, guesses in sorted(found.items())):
            name = _image_name(args, each)
            if each.role in COLOURS:
                space = None
            else:
                space = DATA
            path = str(Path(args.folder) / each.file)
            load_checked(scene, name, path, _place(scene, args, each.file), space, pack=True, at="/folder")
            maps.append(MapFound(map=each.role, file=each.file, image=name, because=each.word))
        material = with_nodes(scene, scene.create(Kind.MATERIAL, args.name))
        node = principled_nodes(material.node_tree)[0]
        build_textures(scene, _textures(args, maps), material.node_tree, node)
        if "emission" in found:
            node.inputs["Emission Strength"].default_value = 1.0
        return MaterialMade(material=args.name, maps=maps, left_over=left)

    def verify(self, scene: Scene, args: FromTexturesArgs, result: MaterialMade) -> Findings:
        node = principled_nodes(scene.require(Kind.MATERIAL, args.name, "/name").node_tree)[0]
        for socket, role in texture_differences(_textures(args, result.maps), node):
            yield conflict(f"the texture of {socket} is another one", f"/maps/{role}", "Choose other maps.")


def _textures(args: FromTexturesArgs, maps: list[MapFound]) -> Textures:
    images = {each.map: each.image for each in maps}
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


def _place(scene: Scene, args: FromTexturesArgs, file: str) -> str:
    return str(Path(scene.input_file(args.folder)) / file)


def _image_name(args: FromTexturesArgs, each: Guess) -> str:
    return f"{args.name} {each.role.replace('_', ' ')}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "")
