"""Which external files fit whoever refers to them, by the end of their names. A hostile scene calls any file its picture."""

from __future__ import annotations

from pathlib import Path

PICTURES = frozenset(
    [
        ".bmp",
        ".cin",
        ".dds",
        ".dpx",
        ".exr",
        ".hdr",
        ".iff",
        ".j2c",
        ".j2k",
        ".jp2",
        ".jpeg",
        ".jpg",
        ".png",
        ".psb",
        ".psd",
        ".pdd",
        ".rgb",
        ".rgba",
        ".bw",
        ".sgi",
        ".tga",
        ".tif",
        ".tiff",
        ".tx",
        ".webp",
    ]
)
FILMS = frozenset(
    [
        ".avi",
        ".divx",
        ".dv",
        ".flc",
        ".flv",
        ".gif",
        ".m2t",
        ".m2ts",
        ".m2v",
        ".m4v",
        ".mjpeg",
        ".mjpg",
        ".mkv",
        ".mov",
        ".mp4",
        ".mpeg",
        ".mpg",
        ".mpg2",
        ".mts",
        ".mxf",
        ".ogg",
        ".ogv",
        ".ts",
        ".vob",
        ".webm",
        ".wmv",
        ".xvid",
    ]
)
SOUNDS = frozenset(
    [
        ".aac",
        ".ac3",
        ".aif",
        ".aiff",
        ".eac3",
        ".flac",
        ".m4a",
        ".mka",
        ".mp1",
        ".mp2",
        ".mp3",
        ".oga",
        ".ogg",
        ".opus",
        ".vox",
        ".wav",
        ".weba",
        ".wma",
    ]
)
FONTS = frozenset([".otf", ".pfb", ".ttc", ".ttf", ".woff", ".woff2"])
VOLUMES = frozenset({".vdb"})
CACHES = frozenset([".abc", ".usd", ".usda", ".usdc", ".usdz"])
SHAPES = frozenset([".bphys", ".mdd", ".pc2", ".btx"])
LIGHTS = frozenset({".ies"})
LIBRARIES = frozenset({".blend"})

BY_KIND = {
    "images": PICTURES | FILMS,
    "movieclips": PICTURES | FILMS,
    "sounds": SOUNDS | FILMS,
    "fonts": FONTS,
    "volumes": VOLUMES,
    "cache_files": CACHES,
    "libraries": LIBRARIES,
}
# Strips, simulations and nodes name files of several kinds; code and settings are among none of them.
ANY = PICTURES | FILMS | SOUNDS | FONTS | VOLUMES | CACHES | SHAPES | LIGHTS


def fits_its_users(path: Path, used_by: tuple[str, ...]) -> bool:
    """Whether a file can be what one of those who refer to it takes it for."""
    return any(path.suffix.lower() in BY_KIND.get(user.partition("/")[0], ANY) for user in used_by or ("",))
