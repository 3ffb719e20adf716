"""The files that AllenNLP code names, by path or by the URLs of 2018, as a model."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from elmo.errors import WeightsError
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.published.addresses import fetch_published, find_published, published_names

_ORIGINAL = (
    "https://allennlp.s3.amazonaws.com/models/elmo/2x4096_512_2048cnn_2xhighway/elmo_2x4096_512_2048cnn_2xhighway"
)
DEFAULT_OPTIONS_FILE = f"{_ORIGINAL}_options.json"
DEFAULT_WEIGHT_FILE = f"{_ORIGINAL}_weights.hdf5"


def model_of_files(options_file: str | os.PathLike[str] | None, weight_file: str | os.PathLike[str]) -> LoadedModel:
    """The model in a weights file with its options; without options, in anything that `elmo.load` reads."""
    options = None if options_file is None else local_file(options_file)
    source = os.fspath(weight_file)
    return read_model(local_file(source) if "://" in source else source, options=options, settle=False)


def local_file(name: str | os.PathLike[str]) -> Path:
    """The file that a path stands for, or the URL of a published model's file: fetched on first use, then kept."""
    text = os.fspath(name)
    if "://" not in text:
        return Path(text)
    # Hosts changed over the years, folders and file names did not.
    tail = urlsplit(text).path.split("/")[-2:]
    for published in filter(None, map(find_published, published_names() if "allennlp" in text else [])):
        for file in published.files:
            if any(urlsplit(url).path.split("/")[-2:] == tail for url in file.urls):
                return fetch_published(published) / file.name
    raise WeightsError(f"{text}: is not the address of a model known here; download the file and give its path")
