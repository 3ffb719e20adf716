"""Published models by name: where they are, under which licence, how their text was split.

Names are `small`, `medium`, `original`, `original-5.5b` and others of the table, `manylangs-<language>` for the models
of ELMoForManyLangs, and `nlpl-<number>` for any ELMo model of NLPL's repository.
"""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from elmo.disk.cachefolder import cache_directory
from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.weights.published.download import RemoteFile, fetch
from elmo.weights.published.languages import language_name
from elmo.weights.published.offline import is_offline
from elmo.weights.published.packaged import DEFAULT as PACKAGED

ENGLISH = Tokenizer(rule="treebank", language="en")
_ALLENNLP = ("https://allennlp.s3.amazonaws.com/models/elmo", "https://s3-us-west-2.amazonaws.com/allennlp/models/elmo")
_NLPL = "https://vectors.nlpl.eu/repository"
_NUMBERED = re.compile(r"nlpl-([1-9][0-9]{0,4})")

# The order of the archives 136.zip to 179.zip. [ELMoForManyLangs README]
_LANGUAGES = (
    "ar bg ca cs cu da de el en es et eu fa fi fr ga gl grc he hi hr hu id it ja ko la lv nl nb nn pl pt ro ru sk sl "
    "sv tr ug uk ur vi zh"
)
_MANYLANGS = tuple(_LANGUAGES.split())
_MANYLANGS_FIRST = 136


@dataclass(frozen=True, kw_only=True)
class Published:
    """A model that someone else publishes."""

    name: str
    about: str
    licence: str
    page: str
    files: tuple[RemoteFile, ...]  # empty: there is no address that could be fetched
    tokenizer: Tokenizer
    parameters: int | None = None  # without the softmax, where it is known


def _pair(folder: str, *names: str) -> tuple[RemoteFile, ...]:
    """Options and weights under AllenNLP's addresses."""
    return tuple(RemoteFile(name=name, urls=tuple(f"{root}/{folder}/{name}" for root in _ALLENNLP)) for name in names)


def _english(name: str, sizes: str, about: str, *, parameters: int) -> Published:
    return Published(
        name=name,
        about=about,
        licence="Apache-2.0 (the licence of AllenNLP, which published it)",
        page="https://allennlp.org/elmo",
        files=_pair(sizes, f"elmo_{sizes}_options.json", f"elmo_{sizes}_weights.hdf5"),
        tokenizer=ENGLISH,
        parameters=parameters,
    )


# What the three architectures have. [https://allennlp.org/elmo: 13.6, 28.0 and 93.6 million]
_SMALL_SIZE, _MEDIUM_SIZE, _ORIGINAL_SIZE = 13_600_000, 28_000_000, 93_600_000
_ORIGINAL = "2x4096_512_2048cnn_2xhighway"
_TABLE = (
    _english("small", "2x1024_128_2048cnn_1xhighway", "English, 1 Billion Word Benchmark", parameters=_SMALL_SIZE),
    _english("medium", "2x2048_256_2048cnn_1xhighway", "English, 1 Billion Word Benchmark", parameters=_MEDIUM_SIZE),
    _english("original", _ORIGINAL, "English, 1 Billion Word Benchmark: the paper's", parameters=_ORIGINAL_SIZE),
    _english(
        "original-5.5b",
        f"{_ORIGINAL}_5.5B",
        "English, Wikipedia and news, 5.5 billion tokens",
        parameters=_ORIGINAL_SIZE,
    ),
    Published(
        name="pt",
        about="Portuguese, contributed to AllenNLP",
        licence="not stated",
        page="https://allennlp.org/elmo",
        files=_pair("contributed/pt", "elmo_pt_options.json", "elmo_pt_weights.hdf5"),
        tokenizer=Tokenizer(rule="unicode", language="pt"),
    ),
    Published(
        name="pubmed",
        about="English biomedical text, contributed to AllenNLP",
        licence="not stated",
        page="https://allennlp.org/elmo",
        files=_pair(
            "contributed/pubmed", f"elmo_{_ORIGINAL}_options.json", f"elmo_{_ORIGINAL}_weights_PubMed_only.hdf5"
        ),
        tokenizer=ENGLISH,
        parameters=_ORIGINAL_SIZE,  # its name has the architecture
    ),
    Published(
        name="german",
        about="German, Wikipedia with its discussions, by T-Systems on site services; weights.hdf5 and options.json",
        licence="BSD-2-Clause (the licence of its repository)",
        page="https://github.com/t-systems-on-site-services-gmbh/german-elmo-model",
        files=(),  # published as a tarball in parts under addresses that changed
        tokenizer=Tokenizer(rule="unicode", language="de"),
    ),
    Published(
        name="seqvec",
        about="Proteins (UniRef50), one residue a token",
        licence="MIT (the licence of its repository)",
        page="https://github.com/Rostlab/SeqVec",
        files=tuple(
            RemoteFile(name=name, urls=(f"https://rostlab.org/~deepppi/embedding_repo/embedding_models/seqvec/{name}",))
            for name in ("options.json", "weights.hdf5")
        ),
        tokenizer=Tokenizer(rule="whitespace", language=None),
    ),
)


def published_names() -> list[str]:
    """All names of the table and of ELMoForManyLangs; those of NLPL's numbers are not listed."""
    return [model.name for model in _TABLE] + [f"manylangs-{language}" for language in _MANYLANGS]


def is_numbered(name: str) -> bool:
    """Whether a name is that of a number in NLPL's repository."""
    return _NUMBERED.fullmatch(name) is not None


def find_published(name: str) -> Published | None:
    """The model of that name, if there is one."""
    name = name.lower()
    for model in _TABLE:
        if model.name == name:
            return model
    if name.startswith("manylangs-") and (language := name.removeprefix("manylangs-")) in _MANYLANGS:
        number = _MANYLANGS_FIRST + _MANYLANGS.index(language)
        return Published(
            name=name,
            about=f"ELMoForManyLangs, {language_name(language)}: 20 million words of the CoNLL 2017 texts",
            licence="not stated (the program is under MIT)",
            page="https://github.com/HIT-SCIR/ELMoForManyLangs",
            files=(RemoteFile(name=f"{number}.zip", urls=(f"{_NLPL}/11/{number}.zip",)),),
            tokenizer=Tokenizer(rule="unicode", language=language),
        )
    if match := _NUMBERED.fullmatch(name):
        return Published(
            name=name,
            about=f"model {match[1]} of NLPL's repository",
            licence="see meta.json in the archive",
            page=f"{_NLPL}/",
            files=(RemoteFile(name=f"{match[1]}.zip", urls=(f"{_NLPL}/20/{match[1]}.zip",)),),
            tokenizer=Tokenizer(rule="unicode", language=None),
        )
    return None


def require_published(name: str) -> Published:
    """The same, with an error that helps."""
    model = find_published(name)
    if model is None:
        near = difflib.get_close_matches(name.lower(), [PACKAGED, *published_names()], n=3)
        names = ", ".join([PACKAGED, *(m.name for m in _TABLE)])
        hint = f"did you mean {' or '.join(near)}?" if near else f"names are {names} ... (`elmo models` lists all)"
        raise WeightsError(
            f"{name[:200]}: there is no such file or directory, and no published model of that name; {hint}"
        )
    return model


def fetch_published(model: Published, *, offline: bool = False, directory: Path | None = None) -> Path:
    """The path from which the model can be read: a directory, or an archive."""
    offline = offline or is_offline()
    directory = (directory or cache_directory()) / model.name
    if not model.files:
        if directory.is_dir():
            return directory
        raise WeightsError(f"{model.name}: has no address; get it from {model.page} and put its files into {directory}")
    paths = [fetch(file, directory, offline=offline) for file in model.files]
    return paths[0] if len(paths) == 1 else directory
