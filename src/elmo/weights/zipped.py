"""Zip archives of models: NLPL's (bilm-tf's files) and ELMoForManyLangs', unpacked aside and read as what they hold."""

import logging
from pathlib import Path

from elmo.disk.guarded.archives import Archive, gunzip, is_archive, open_archive, unpacked
from elmo.disk.guarded.plainfiles import MOST_JSON_BYTES, read_json
from elmo.errors import WeightsError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import MOST_VOCABULARY_BYTES, read_vocabulary
from elmo.weights import manylangs
from elmo.weights.bilmtf.files import OPTIONS, VOCABULARY, BilmTfFiles, read_bilmtf
from elmo.weights.format import Format, Read
from elmo.weights.guarded.limits import MOST_VALUES
from elmo.weights.loaded import LoadedModel

logger = logging.getLogger(__name__)

NLPL_WEIGHTS, PACKED_VOCABULARY = "model.hdf5", "vocab.txt.gz"
MOST_WEIGHTS_BYTES = 4 * MOST_VALUES
# NLPL's models are of many languages; which one, an archive does not say in a way that can be relied on.
TOKENIZER = Tokenizer(rule="unicode", language=None)


def read_zip(path: Path, *, finite: bool = True) -> LoadedModel:
    """Read the model in an archive; the settled state is left to the caller."""
    with open_archive(path) as archive:
        format = _format_of(archive, path)  # noqa: A001 - the word users know it by
        read = _read_nlpl if format is NLPL_ZIP else _read_manylangs
        model = read(archive, path, finite=finite)
        return model.replace(format=format.name, source=str(path))


def _format_of(archive: Archive, path: Path) -> Format:
    if NLPL_WEIGHTS in archive and OPTIONS in archive:
        return NLPL_ZIP
    if all(name in archive for name in (manylangs.CONFIG, manylangs.TOKENS, manylangs.ENCODER)):
        return MANYLANGS_ZIP
    raise WeightsError(
        f"{path}: is not an archive of a model; wanted are {NLPL_WEIGHTS} and {OPTIONS}, or "
        f"{manylangs.CONFIG}, {manylangs.TOKENS} and {manylangs.ENCODER}"
    )


def _read_nlpl(archive: Archive, path: Path, *, finite: bool) -> LoadedModel:
    names = {
        OPTIONS: MOST_JSON_BYTES,
        NLPL_WEIGHTS: MOST_WEIGHTS_BYTES,
        VOCABULARY: MOST_VOCABULARY_BYTES,
        PACKED_VOCABULARY: MOST_VOCABULARY_BYTES,
    }
    with unpacked(archive, names, path) as directory:
        vocabulary = directory / VOCABULARY
        if not vocabulary.is_file() and PACKED_VOCABULARY in archive:
            gunzip(directory / PACKED_VOCABULARY, vocabulary, most_bytes=MOST_VOCABULARY_BYTES)
        files = BilmTfFiles(directory / NLPL_WEIGHTS, directory / OPTIONS, None, None)
        if "char_cnn" not in read_json(files.options):
            files = files._replace(vocabulary=vocabulary)
        model = read_bilmtf(files, finite=finite)
        model = model.replace(tokenizer=TOKENIZER)
        if model.vocabulary is None and vocabulary.is_file():
            # Not needed to embed text, so a vocabulary that breaks the rules does not stop anyone.
            try:
                model = model.replace(vocabulary=read_vocabulary(vocabulary))
            except WeightsError as error:
                reason = str(error).replace(str(directory), str(path))
                logger.warning("%s: the vocabulary is left out (%s)", path, reason)
        return model


def _read_manylangs(archive: Archive, path: Path, *, finite: bool) -> LoadedModel:
    names = {
        manylangs.CONFIG: MOST_JSON_BYTES,
        manylangs.WORDS: manylangs.MOST_DICTIONARY_BYTES,
        manylangs.CHARACTERS: manylangs.MOST_DICTIONARY_BYTES,
        manylangs.TOKENS: MOST_WEIGHTS_BYTES,
        manylangs.ENCODER: MOST_WEIGHTS_BYTES,
    }
    with unpacked(archive, names, path) as directory:
        config = directory / manylangs.CONFIG
        name = manylangs.architecture_name(read_json(config), where=str(config))
        if name in archive and name not in names:
            archive.copy(name, directory / "architecture.json", most_bytes=MOST_JSON_BYTES)
            return manylangs.read_manylangs(directory, architecture=directory / "architecture.json", finite=finite)
        return manylangs.read_manylangs(directory, finite=finite)


def _find(path: Path, wanted: Format) -> Read | None:
    if path.is_dir() or not is_archive(path):
        return None
    with open_archive(path) as archive:
        if _format_of(archive, path) is not wanted:
            return None
    return lambda asked: read_zip(path, finite=asked.finite)


NLPL_ZIP: Format = Format(
    name="nlpl-zip",
    find=lambda path: _find(path, NLPL_ZIP),
    file="a zip archive of NLPL's repository",
)
MANYLANGS_ZIP: Format = Format(name="manylangs-zip", find=lambda path: _find(path, MANYLANGS_ZIP))
