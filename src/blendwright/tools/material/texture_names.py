"""What a picture of a material is for, guessed by its file name as texture libraries write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

# By what a map is for: the words that say so. Words in pairs come first, and the last that fits counts: a name begins
# with the material.
WORDS: Mapping[str, tuple[str, ...]] = {
    "base_color": (
        "basecolor", "basecolour", "base color", "base colour", "base col", "albedo", "diffuse", "diff", "color",
        "colour", "col", "basecol",
    ),
    "ambient_occlusion": ("ao", "ambientocclusion", "ambient occlusion", "occlusion", "occ", "mixed ao"),
    "metallic": ("metallic", "metalness", "metal"),
    "roughness": ("roughness", "rough", "rgh"),
    "gloss": ("gloss", "glossiness", "smoothness"),
    "alpha": ("opacity", "alpha", "transparency"),
    "emission": ("emission", "emissive", "emit", "glow"),
    "normal": (
        "normal", "normals", "normalgl", "normal gl", "nor gl", "nor", "nrm", "norm", "normal opengl", "normal ogl",
        "normalogl",
    ),
    "normal_directx": ("normaldx", "normal dx", "nor dx", "normal directx", "normaldirectx"),
    "height": ("height", "displacement", "disp", "bump", "displace"),
}  # fmt: skip
BY_WORD = {word: role for role, words in WORDS.items() for word in words}
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Where both are there, the second is the same thing in another form.
PREFERRED = {"normal": "normal_directx", "roughness": "gloss"}


@dataclass(frozen=True, slots=True)
class Guess:
    """One picture: what it is for, and the word that says so."""

    role: str
    file: str
    word: str


def guess(file: str) -> Guess | None:
    """What one file is for; None when no word of its name says so."""
    parts = [part.lower() for part in PARTS.findall(PurePosixPath(file).stem)]
    for end in range(len(parts), 0, -1):
        for word in (" ".join(parts[max(0, end - 2) : end]), parts[end - 1]):
            if word in BY_WORD:
                return Guess(BY_WORD[word], file, word)
    return None


def guess_all(files: Iterable[str], chosen: Mapping[str, str]) -> tuple[dict[str, list[Guess]], list[str]]:
    """The pictures by what they are for, as far as it can be told, and those that are for nothing. `chosen` says it for some."""
    given = {file: Guess(role, file, "as given") for role, file in chosen.items()}
    found: dict[str, list[Guess]] = {}
    left: list[str] = []
    for file in sorted(files):
        each = given.get(file) or guess(file)
        if each is None or (each.role in chosen and file not in given):
            left.append(file)
        else:
            found.setdefault(each.role, []).append(each)
    for role, other in PREFERRED.items():
        if role in found and other in found and other not in chosen:
            left += [each.file for each in found.pop(other)]
    return found, sorted(left)
