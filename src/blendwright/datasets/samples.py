"""Annotated cases as samples: one picture each, with its description, the files that belong to it, and the categories of the data set."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from blendwright.batch.results.table import ResultRow
from blendwright.tools.render.annotation_document import (
    DOCUMENT,
    AnnotatedCategory,
    AnnotatedInstance,
    AnnotatedPicture,
    AnnotationDocument,
)
from blendwright.util.no_follow import read_file
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault


@dataclass(frozen=True, slots=True)
class AnnotatedCase:
    """A case, by its number, and the folder with its annotations.json. `digests` are the sha256 of its files by name, as the row of the
    case has them; None for a folder that has no row."""

    number: int
    folder: Path
    digests: Mapping[str, str] | None = None

    def read(self, name: str) -> bytes:
        """A file of the folder, which is a plain file there and what the row says: whatever else somebody has put in its place must not get
        into what is given to others. Raises Refusal."""
        path = self.folder.parent.resolve() / self.folder.name / name
        try:
            data = read_file(path)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Run the case again.") from error
        if self.digests is not None and self.digests.get(name) != hashlib.sha256(data).hexdigest():
            message = f"{path} is not the file that case {self.number:06d} has published"
            raise Refusal.of(Fault.VERIFICATION_FAILED, message, "Run the case again, or restore the file.")
        return data


# Cases in the order of their numbers; asked for more than once, and never held together.
Cases = Callable[[], Iterator[AnnotatedCase]]


def annotated_cases(rows: Iterable[ResultRow]) -> Iterator[AnnotatedCase]:
    """The cases of a batch that are done and have annotations, in the order of the rows. Raises Refusal for outputs on another machine."""
    for row in rows:
        for name in row.outputs if row.status == "done" else ():
            if PurePosixPath(name).name != DOCUMENT:
                continue
            if row.location is None or not Path(row.location).is_dir():
                message = f"the outputs of case {row.number:06d} are not in a directory here: {row.location}"
                raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Copy them to this machine first.")
            folder = PurePosixPath(name).parent
            beside = {PurePosixPath(each): said for each, said in row.outputs.items()}
            digests = {each.name: str(said["sha256"]) for each, said in beside.items() if each.parent == folder}
            yield AnnotatedCase(row.number, Path(row.location, folder), digests)


@dataclass(frozen=True, slots=True)
class Sample:
    """One picture. `key` is its name in every data set, `digest` is equal for equal annotations."""

    key: str
    case: AnnotatedCase
    picture: AnnotatedPicture
    category_names: Mapping[int, str]
    digest: str

    def file(self, layer: str) -> Path:
        """Where a file of the picture is. Raises Refusal where that layer was left out."""
        name: str | None = getattr(self.picture.files, layer)
        if name is None:
            message = f"{self.case.folder / DOCUMENT} has no {layer}"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Annotate with this layer, or write another format.")
        return self.case.folder / name

    def read(self, layer: str) -> bytes:
        """A file of the picture. Raises Refusal where it is not what was published."""
        return self.case.read(self.file(layer).name)

    def category(self, instance: AnnotatedInstance) -> str:
        return self.category_names[instance.category_id]


def read_document(case: AnnotatedCase) -> tuple[AnnotationDocument, str]:
    """The document of a case, and its hash. Raises Refusal where it is none, or names files elsewhere."""
    data = case.read(DOCUMENT)
    try:
        document = AnnotationDocument.model_validate_json(data)
        for picture in document.pictures:
            _require_sound(picture, {category.id for category in document.categories})
    except (ValidationError, ValueError) as error:
        reason = str(error).splitlines()[0]
        message = f"{case.folder / DOCUMENT} is no annotations.v1: {reason}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Run the case again.") from error
    return document, hashlib.sha256(data).hexdigest()


def _require_sound(picture: AnnotatedPicture, categories: set[int]) -> None:
    """Raises ValueError where the description contradicts itself."""
    for name in picture.files.model_dump().values():
        if name is not None and (Path(name).name != name or name in ("", "..")):
            raise ValueError(f"{name!r} is no name of a file beside it")
    for instance in picture.instances:
        if instance.category_id not in categories:
            raise ValueError(f"instance {instance.id} has a category that is not there")
        for mask in (instance.mask_visible, instance.mask_full):
            if mask is not None and (
                mask.size != (picture.height, picture.width)
                or sum(mask.counts) != picture.height * picture.width
                or min(mask.counts) < 0
            ):
                raise ValueError(f"a mask of instance {instance.id} is not one of this picture")


def samples(cases: Cases) -> Iterator[Sample]:
    for case in cases():
        document, digest = read_document(case)
        names = {category.id: category.name for category in document.categories}
        for number, picture in enumerate(document.pictures):
            yield Sample(f"{case.number:06d}_{number:04d}", case, picture, names, f"{digest}:{number}")


def all_categories(cases: Cases) -> list[AnnotatedCategory]:
    """Those of all cases, by name. Where every case gives a name the same number, these numbers are kept; else names are numbered in their
    order. Raises Refusal where keypoints of one category differ between cases."""
    found: dict[str, AnnotatedCategory] = {}
    agreed = True
    for case in cases():
        document, _ = read_document(case)
        for category in document.categories:
            known = found.setdefault(category.name, category)
            agreed = agreed and known.id == category.id
            if (known.keypoints, known.skeleton) != (category.keypoints, category.skeleton):
                message = f"category '{category.name}' has other keypoints in {case.folder / DOCUMENT} than before"
                raise Refusal.of(Fault.ARGS_INVALID, message, "Give it the same keypoints in all cases.")
    ordered = sorted(found.values(), key=lambda each: each.name)
    if agreed and len({category.id for category in ordered}) == len(ordered):
        return sorted(ordered, key=lambda each: each.id)
    return [category.model_copy(update={"id": number}) for number, category in enumerate(ordered, 1)]
