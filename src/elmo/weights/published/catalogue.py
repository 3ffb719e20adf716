"""All models that have a name: what they are, where they come from, and which of them are on this machine."""

from dataclasses import dataclass
from pathlib import Path

from elmo.disk.cachefolder import cache_directory
from elmo.weights.published.addresses import Published, find_published, is_numbered, published_names
from elmo.weights.published.languages import language_name
from elmo.weights.published.packaged import DEFAULT, has_packaged, packaged_directory

SHORTEST = 3  # letters of a part of a language's name


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """A model by its name; what is not known is None."""

    name: str
    language: str | None  # its code
    about: str
    parameters: int | None  # without the softmax
    licence: str
    page: str | None
    addresses: tuple[str, ...]  # of its files
    path: Path | None = None  # where it is on this machine
    bytes: int | None = None  # that it takes there

    @property
    def language_name(self) -> str | None:
        """Its language in English."""
        return None if self.language is None else language_name(self.language)


def known_models() -> list[KnownModel]:
    """The packaged model, all published ones, and those of NLPL's numbers that were downloaded."""
    names = published_names()
    cache = cache_directory()
    if cache.is_dir():
        names += sorted(path.name for path in cache.iterdir() if path.is_dir() and is_numbered(path.name))
    published = [model for model in map(find_published, names) if model is not None]
    return [_packaged(), *map(_described, published)]


def find_models(wanted: str) -> list[KnownModel]:
    """Models by a part of their name or of their language's, or by its code."""
    wanted = wanted.lower()
    return [model for model in known_models() if _matches(model, wanted)]


def _matches(model: KnownModel, wanted: str) -> bool:
    language = (model.language_name or "").lower()
    return (
        wanted in model.name
        or wanted == model.language
        or (len(wanted) >= SHORTEST and wanted in language)
        or (len(wanted) >= SHORTEST and wanted in model.about.lower())
    )


def _packaged() -> KnownModel:
    directory = packaged_directory()
    path = directory if has_packaged() else None
    return KnownModel(
        name=DEFAULT,
        language="en",
        about="English, 237 million tokens of freely licensed text; comes with the package",
        parameters=28_027_744,
        licence="CC-BY-SA-4.0",
        page=None,
        addresses=(),
        path=path,
        bytes=_size(path),
    )


def _described(model: Published) -> KnownModel:
    directory = cache_directory() / model.name
    there = all((directory / file.name).is_file() for file in model.files) and directory.is_dir()
    path = directory if there else None
    return KnownModel(
        name=model.name,
        language=model.tokenizer.language,
        about=model.about,
        parameters=model.parameters,
        licence=model.licence,
        page=model.page,
        addresses=tuple(file.urls[0] for file in model.files),
        path=path,
        bytes=_size(path),
    )


def _size(path: Path | None) -> int | None:
    return None if path is None else sum(file.stat().st_size for file in path.iterdir() if file.is_file())
