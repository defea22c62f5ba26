"""Samples of a data set: one picture of an annotated case each, with its description, its files, and the categories of the data set."""

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
    Mask,
)
from blendwright.util.no_follow import read_file
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault


@dataclass(frozen=True, slots=True)
class AnnotatedCase:
    """An annotated case and the folder with its annotations.json.

    `digests` are the SHA-256 of its files by name, from the case's row. None stands for a folder without a row."""

    number: int
    folder: Path
    digests: Mapping[str, str] | None = None

    def read(self, name: str) -> bytes:
        """Return the content of a file in the folder. Raise Refusal unless it is the regular file that the case published.

        The check keeps files of other origin out of a data set that its author passes on."""
        path = self.folder.parent.resolve() / self.folder.name / name
        try:
            data = read_file(path)
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Run the case again.") from error
        if self.digests is not None and self.digests.get(name) != hashlib.sha256(data).hexdigest():
            message = f"{path} differs from the file that case {self.number:06d} published"
            raise Refusal.of(Fault.VERIFICATION_FAILED, message, "Run the case again, or restore the file.")
        return data


# A function that yields the cases in the order of their numbers. Callers call it several times and never hold all cases at once.
Cases = Callable[[], Iterator[AnnotatedCase]]


def annotated_cases(rows: Iterable[ResultRow]) -> Iterator[AnnotatedCase]:
    """Yield the finished cases with annotations, in the order of the rows. Raise Refusal if the outputs are on another machine."""
    for row in rows:
        if row.status != "done":
            continue
        for name in row.outputs:
            if PurePosixPath(name).name != DOCUMENT:
                continue
            if row.location is None or not Path(row.location).is_dir():
                message = f"the outputs of case {row.number:06d} are not in a directory of this machine: {row.location}"
                raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Copy them to this machine first.")
            folder = PurePosixPath(name).parent
            digests: dict[str, str] = {}
            for file_name, file in row.outputs.items():
                path = PurePosixPath(file_name)
                if path.parent == folder:
                    digests[path.name] = str(file["sha256"])
            yield AnnotatedCase(row.number, Path(row.location, folder), digests)


@dataclass(frozen=True, slots=True)
class Sample:
    """A picture of a case. `key` is its name in every data set; `digest` is equal for equal annotations."""

    key: str
    case: AnnotatedCase
    picture: AnnotatedPicture
    category_names: Mapping[int, str]
    digest: str

    def file(self, layer: str) -> Path:
        """Return the path of one layer's file. Raise Refusal if the picture has no such layer."""
        name: str | None = getattr(self.picture.files, layer)
        if name is None:
            message = f"{self.case.folder / DOCUMENT} has no {layer}"
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, "Annotate with this layer, or choose another format.")
        return self.case.folder / name

    def read(self, layer: str) -> bytes:
        """Return the content of one layer's file. Raise Refusal if it is not the published file."""
        return self.case.read(self.file(layer).name)

    def category(self, instance: AnnotatedInstance) -> str:
        return self.category_names[instance.category_id]


def read_document(case: AnnotatedCase) -> tuple[AnnotationDocument, str]:
    """Return the annotations of a case and their SHA-256. Raise Refusal if the document is invalid or names files elsewhere."""
    data = case.read(DOCUMENT)
    try:
        document = AnnotationDocument.model_validate_json(data)
        for picture in document.pictures:
            _require_sound(picture, {category.id for category in document.categories})
    except (ValidationError, ValueError) as error:
        reason = str(error).splitlines()[0]
        message = f"{case.folder / DOCUMENT} is not a valid annotations.v1 document: {reason}"
        raise Refusal.of(Fault.ARGS_INVALID, message, "Run the case again.") from error
    return document, hashlib.sha256(data).hexdigest()


def _require_sound(picture: AnnotatedPicture, categories: set[int]) -> None:
    """Raise ValueError if the description contradicts itself."""
    for name in picture.files.model_dump().values():
        if name is not None and (Path(name).name != name or name in ("", "..")):
            raise ValueError(f"{name!r} is not a file name without a directory")
    for instance in picture.instances:
        if instance.category_id not in categories:
            raise ValueError(f"instance {instance.id} has the unknown category {instance.category_id}")
        for mask in (instance.mask_visible, instance.mask_full):
            if mask is not None and not _fits(mask, picture):
                raise ValueError(f"a mask of instance {instance.id} does not fit the size of its picture")


def _fits(mask: Mask, picture: AnnotatedPicture) -> bool:
    size = (picture.height, picture.width)
    return mask.size == size and sum(mask.counts) == picture.height * picture.width and min(mask.counts) >= 0


def samples(cases: Cases) -> Iterator[Sample]:
    """Yield all pictures of all cases in order."""
    for case in cases():
        document, digest = read_document(case)
        names = {category.id: category.name for category in document.categories}
        for number, picture in enumerate(document.pictures):
            yield Sample(f"{case.number:06d}_{number:04d}", case, picture, names, f"{digest}:{number}")


def all_categories(cases: Cases) -> list[AnnotatedCategory]:
    """Return the categories of all cases. Raise Refusal if the keypoints of one category differ between cases.

    If every case uses the same id for a category, the ids stay. Otherwise the function numbers the names in alphabetical order."""
    categories: dict[str, AnnotatedCategory] = {}
    ids_agree = True
    for case in cases():
        document, _ = read_document(case)
        for category in document.categories:
            first = categories.setdefault(category.name, category)
            ids_agree = ids_agree and first.id == category.id
            if (first.keypoints, first.skeleton) != (category.keypoints, category.skeleton):
                message = (
                    f"{case.folder / DOCUMENT} has other keypoints for category '{category.name}' than earlier cases"
                )
                raise Refusal.of(Fault.ARGS_INVALID, message, "Give the category the same keypoints in all cases.")
    ordered = sorted(categories.values(), key=lambda category: category.name)
    if ids_agree and len({category.id for category in ordered}) == len(ordered):
        return sorted(ordered, key=lambda category: category.id)
    return [category.model_copy(update={"id": number}) for number, category in enumerate(ordered, 1)]
