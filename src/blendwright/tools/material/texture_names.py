"""Purpose of a picture of a material, guessed from its file name in the conventions of texture libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

# Purpose -> words that show it. Pairs of words are tried first, and the last match in a name counts, because names
# begin with the material.
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
# If both purposes occur, the second contains the same information in another form and is left out.
PREFERRED = {"normal": "normal_directx", "roughness": "gloss"}


@dataclass(frozen=True, slots=True)
class Guess:
    """The purpose of one picture, and the word in its name that shows it."""

    role: str
    file: str
    word: str


def guess(file: str) -> Guess | None:
    """Return the purpose of one file, or None if no word of its name shows it."""
    parts = [part.lower() for part in PARTS.findall(PurePosixPath(file).stem)]
    for end in range(len(parts), 0, -1):
        for word in (" ".join(parts[max(0, end - 2) : end]), parts[end - 1]):
            if word in BY_WORD:
                return Guess(BY_WORD[word], file, word)
    return None


def guess_all(files: Iterable[str], chosen: Mapping[str, str]) -> tuple[dict[str, list[Guess]], list[str]]:
    """Return the pictures by purpose, and the names of the pictures without a purpose.

    `chosen` maps purposes to files that the caller named; these take precedence.
    """
    chosen_guesses = {file: Guess(role, file, "as given") for role, file in chosen.items()}
    guesses: dict[str, list[Guess]] = {}
    unused: list[str] = []
    for file in sorted(files):
        picture = chosen_guesses.get(file) or guess(file)
        if picture is None or (picture.role in chosen and file not in chosen_guesses):
            unused.append(file)
        else:
            guesses.setdefault(picture.role, []).append(picture)

    for role, alternative in PREFERRED.items():
        if role in guesses and alternative in guesses and alternative not in chosen:
            unused += [picture.file for picture in guesses.pop(alternative)]
    return guesses, sorted(unused)
