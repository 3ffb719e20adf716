"""Text files to a corpus store. The only module that knows the whole way; each step is a module of its own.

1. *Reading* (`firstpass`): the text is cut into blocks of whole lines; workers tokenize each block, number its distinct
   words and keep the numbers on disk. Text is tokenized once. A finished block is never made again.
2. *Splitting* (`split`): the held-out sentences are chosen from the lengths of sentences and documents.
3. *Merging* (`merge`, `types`): the distinct words of all blocks become types, ordered by training frequency; the
   most frequent become the vocabulary.
4. *Writing* (here): the block's own numbers are replaced by type ids, block after block, and the store gets its name.

The store is a function of the text, the options and the seed: neither workers, blocks nor the memory limit show in it.

Memory, for a billion words (6 GB of text, 1,430 blocks of 4 MiB, 45 M sentences, 20 M types), is far below 8 GB:
- Reading: a worker holds one block and what the tokenizer remembers, about 200 MB with the interpreter; the caller
  holds two blocks for each worker.
- Splitting: 4 bytes a sentence and 8 a document, six such arrays at the worst: 0.2 GB, and 2.2 GB more if each sentence
  is a document of its own.
- Merging: at most `memory_limit` (2 GiB) for the words joined at a time, 4 bytes a type (80 MB) for their numbers, and
  what a vocabulary of 800,000 words takes (0.1 GB).
- Writing: one block, and 8 bytes a sentence (0.4 GB).
On disk the blocks take about 2.5 bytes a word until the store, of 4 bytes a word, is complete: 2.5 GB and 4.4 GB.
"""

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.bar import ProgressBar, ProgressCallback, StageClock
from elmo.corpus.block import Documents
from elmo.corpus.firstpass import ReadText, read_sources
from elmo.corpus.identity import build_identity, identity_of_blocks
from elmo.corpus.layout import FILES, MANIFEST, SPLITS, VOCABULARY
from elmo.corpus.merge import MergedTypes, divide
from elmo.corpus.options import DEFAULT_MIN_COUNT, DEFAULT_VOCABULARY_SIZE, BuildOptions, VocabularyLimits
from elmo.corpus.sources import PathLike, TextFile, find_sources, no_sentence
from elmo.corpus.splitfiles import write_offsets, write_symbols, write_training_counts
from elmo.corpus.store import CorpusStore
from elmo.corpus.structure import Structure, structure_of
from elmo.corpus.types import GivenVocabulary, GrowingVocabulary, Targets, TypeReport, write_types
from elmo.disk.differences import first_difference
from elmo.disk.guarded.plainfiles import file_sha256
from elmo.disk.workfolder import WorkFolder, folder_beside, is_taken, remove_work, work_folder
from elmo.disk.writing import errors_naming, write_file
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.text.tokenizer import Rule, Tokenizer
from elmo.text.vocabulary import UNKNOWN_ID, Vocabulary
from elmo.text.wrapped import Lines

logger = logging.getLogger(__name__)

BLOCK_BYTES = 4 << 20
MEMORY_LIMIT = 2 << 30


def build_corpus(
    inputs: PathLike | Sequence[PathLike],
    out_dir: PathLike,
    *,
    tokenizer: Tokenizer | Rule | None = None,
    tokenized: bool = False,
    lines: Lines = "auto",
    documents: Documents = "files",
    vocabulary_size: int | None = None,
    min_count: int | None = None,
    coverage: float | None = None,
    vocabulary: Vocabulary | PathLike | None = None,
    heldout: float | PathLike | Sequence[PathLike] = 0.01,
    heldout_max_tokens: int = 250_000,
    seed: int = 0,
    workers: int | None = None,
    resume: bool = False,
    memory_limit: int = MEMORY_LIMIT,
    block_bytes: int = BLOCK_BYTES,
    progress: ProgressCallback | None = None,
) -> CorpusStore:
    """Make a corpus store of text files and open it.

    Args:
        inputs: Files (plain, .gz, .xz, .zst), directories, or "-" for standard input. UTF-8.
        out_dir: Where the store is to be; must not exist, or be empty. Unfinished work is kept beside it, in
            `<out_dir>.building`.
        tokenizer: How raw text becomes tokens, recorded in the store: a `Tokenizer` or one of its rules. By default
            treebank for raw text and whitespace for tokenized text.
        tokenized: Each line is a sentence whose tokens stand between white space; otherwise the text is raw.
        lines: What a line of raw text is: "whole", one or more sentences; "wrapped", cut at some width, so that lines
            are joined into paragraphs (which end at blank lines); "auto" finds out for each file, and says so.
        documents: What a document is: a whole file, a line, or the lines between blank lines.
        vocabulary_size, min_count, coverage: Limits of the vocabulary, see `VocabularyLimits`; all that are given hold.
            By default words seen three times, and at most 800,000 entries.
        vocabulary: A vocabulary made elsewhere, or its file, instead of one from this text.
        heldout: The fraction of the words to hold out, by whole documents where these are small enough; or the files to
            hold out, which may be among the inputs.
        heldout_max_tokens: The most words that a fraction may come to.
        seed: Decides which documents are held out.
        workers: Processes; by default as many as there are processors. The store does not depend on it.
        resume: Go on from what an interrupted build with the same inputs and options left; without any, begin. The
            limits of the vocabulary may be others: it is chosen at the end.
        memory_limit: Bytes that the joining of the words of all blocks may take.
        block_bytes: Text that a worker takes at a time.
        progress: Called now and then with a `Moment`; by default a bar is drawn if standard error is a terminal.
    """
    for name, value in {"workers": workers, "memory_limit": memory_limit, "block_bytes": block_bytes}.items():
        if value is not None and value < 1:
            raise ConfigError(f"{name} is {value}, but it must be at least 1")
    rule = _tokenizer(tokenizer, tokenized=tokenized)
    if lines == "auto" and (tokenized or rule.language is None or documents == "lines"):
        lines = "whole"  # the caller has said what a line is
    options = BuildOptions(
        tokenizer=rule,
        tokenized=tokenized,
        lines=lines,
        documents=documents,
        vocabulary=_limits(vocabulary, VocabularyLimits(size=vocabulary_size, min_count=min_count, coverage=coverage)),
        heldout_fraction=float(heldout) if isinstance(heldout, int | float) else 0.0,
        heldout_max_tokens=heldout_max_tokens,
        seed=seed,
    )
    given = vocabulary if vocabulary is None or isinstance(vocabulary, Vocabulary) else Vocabulary.read(vocabulary)
    out_dir = Path(out_dir)
    sources = find_sources(
        _as_list(inputs),
        () if isinstance(heldout, int | float) else _as_list(heldout),
        own_folders=(out_dir, folder_beside(out_dir)),
    )
    identity = build_identity(sources, options, given)
    if is_taken(out_dir):
        return _finished_before(out_dir, identity, resume=resume)

    bar = ProgressBar()
    try:
        whole = {**identity, "block_bytes": block_bytes}
        with work_folder(out_dir, whole, thing="corpus", resume=resume, of_blocks=identity_of_blocks) as work:
            processes = _processes(workers, sources, block_bytes=block_bytes)
            tell = progress or bar
            text = read_sources(sources, work, options, workers=processes, block_bytes=block_bytes, progress=tell)
            _require_sentences(sources, text)
            if options.lines == "auto":
                _tell_of_wrapped(sources, text)
            structure = structure_of(text, options)
            _require_training(structure)
            manifest = _write_store(work, text, structure, options, given, memory_limit=memory_limit, progress=tell)
            write_file(work.made / MANIFEST, _as_json({**identity, **manifest}))
            work.put_in_place(out_dir)
    finally:
        bar.close()
    return CorpusStore.open(out_dir)


def _write_store(
    work: WorkFolder,
    text: ReadText,
    structure: Structure,
    options: BuildOptions,
    given: Vocabulary | None,
    *,
    memory_limit: int,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Write every file of the store but the manifest. Returns what the manifest says of them."""
    blocks = text.blocks
    training_tokens = int(structure.lengths[~structure.heldout].sum(dtype=np.int64))
    targets: Targets
    if given is None:
        targets = GrowingVocabulary(options.vocabulary, training_tokens=training_tokens)
    else:
        targets = GivenVocabulary(given)

    counts = work.scratch / "counts"
    write_training_counts(blocks, structure, counts)
    shares = divide(sum(block.facts.types for block in blocks), memory_limit=memory_limit)
    clock = StageClock("merging", progress, total=len(shares) * len(blocks))
    types = MergedTypes(blocks, counts, shares=shares, folder=work.scratch, clock=clock)
    report, hashes = write_types(
        types.chunks(StageClock("ordering", progress, total=types.count)),
        work.made,
        count=types.count,
        training_sentences=int(np.count_nonzero(~structure.heldout)),
        targets=targets,
    )
    vocabulary = targets.vocabulary()
    with errors_naming(work.made / VOCABULARY):
        vocabulary.write(work.made / VOCABULARY)
    hashes[VOCABULARY] = file_sha256(work.made / VOCABULARY)

    clock = StageClock("writing", progress, total=len(blocks))
    hashes |= write_symbols(blocks, types.lookups(), structure, work.made, clock=clock)
    hashes |= write_offsets(structure, work.made)
    _warn(report)
    return {
        "vocabulary_size": len(vocabulary),
        "types": types.count + 1,
        **_describe(work.made, structure, report),
        "sources": _describe_sources(text),
        "hashes": dict(sorted(hashes.items())),
    }


def _describe(folder: Path, structure: Structure, report: TypeReport) -> dict[str, Any]:
    """Counts and coverage of both splits."""
    heldout = np.load(folder / FILES["heldout_symbols"], mmap_mode="r")
    targets = np.load(folder / "type_targets.npy", mmap_mode="r")
    counts = np.bincount(heldout, minlength=len(targets))[1:]  # of each type
    known = {"train": report.known_tokens, "heldout": int(counts[targets[1:] != UNKNOWN_ID].sum())}
    types = {"train": report.training_types, "heldout": int(np.count_nonzero(counts))}
    sizes = {}
    coverage: dict[str, Any] = {}
    for split in SPLITS:
        members = structure.members(split)
        tokens = int(structure.lengths[members].sum(dtype=np.int64))
        sizes[split] = {
            "tokens": tokens,
            "sentences": int(np.count_nonzero(members)),
            "documents": len(structure.document_offsets(split)) - 1,
            "types": types[split],
        }
        unknown = tokens - known[split]
        coverage[split] = {"unknown_tokens": unknown, "unknown_rate": round(unknown / tokens, 6) if tokens else 0.0}
    coverage |= {"longer_than_48_bytes": {"types": report.cut_types, "training_tokens": report.cut_tokens}}
    return {"counts": sizes, "coverage": coverage}


def _describe_sources(text: ReadText) -> list[dict[str, Any]]:
    words = dict.fromkeys(text.sha256, 0)
    for segment in text.segments:
        words[segment.source] += segment.facts.words
    return [
        {
            "name": source.name,
            "size": source.size,
            "heldout": source.heldout,
            "lines": "wrapped" if source in text.wrapped else "whole",
            "tokens": words[source],
            "text_sha256": sha256,
        }
        for source, sha256 in text.sha256.items()
    ]


def _require_sentences(sources: Sequence[TextFile], text: ReadText) -> None:
    """Every file that was named must have text; one that was found in a directory need not."""
    with_text = {segment.source for segment in text.segments if segment.facts.sentences}
    for source in sources:
        if source not in with_text:
            if not source.found:
                raise no_sentence(source.name)
            logger.warning("%s: no sentence in this file; it is left out", source.name)
    if not with_text:
        raise InputError(f"no sentence in any of {len(sources)} files; the first is {sources[0].name}")


def _tell_of_wrapped(sources: Sequence[TextFile], text: ReadText) -> None:
    found = [source.name for source in sources if source in text.wrapped]
    if found:
        files = f"{found[0]}: lines are" if len(sources) == 1 else f"{len(found)} of {len(sources)} files have lines"
        logger.warning(
            "%s cut at a width (hard-wrapped)%s; they are joined into paragraphs. Where each line is to stand for "
            "itself: --lines whole",
            files,
            "" if len(sources) == 1 else f", the first is {found[0]}",
        )


def _require_training(structure: Structure) -> None:
    if structure.heldout.all():
        raise InputError("every sentence is held out; name at least one file to train on")


def _warn(report: TypeReport) -> None:
    for word, count in report.reserved_tokens.items():
        logger.warning(
            "the text has the word %s (%d times in the training split); it counts as unknown, as the vocabulary uses "
            "it for something else (the ends of sentences are added and need not be written)",
            word,
            count,
        )


def _as_list(paths: PathLike | Sequence[PathLike]) -> Sequence[PathLike]:
    return [paths] if isinstance(paths, str | os.PathLike) else paths


def _tokenizer(given: Tokenizer | Rule | None, *, tokenized: bool) -> Tokenizer:
    if isinstance(given, Tokenizer):
        return given
    if given is None:
        return Tokenizer("whitespace", None) if tokenized else Tokenizer()
    return Tokenizer(given)


def _limits(given: Vocabulary | PathLike | None, limits: VocabularyLimits) -> VocabularyLimits:
    if given is not None and limits.any_given:
        raise ConfigError("a given vocabulary has its size; leave out vocabulary_size, min_count and coverage")
    if given is not None or limits.any_given:
        return limits
    return VocabularyLimits(size=DEFAULT_VOCABULARY_SIZE, min_count=DEFAULT_MIN_COUNT)


def _processes(workers: int | None, sources: Sequence[TextFile], *, block_bytes: int) -> int:
    """How many processes are of use."""
    wanted = workers or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    sizes = [source.expected_text for source in sources]
    blocks = -(-sum(size for size in sizes if size is not None) // block_bytes)
    return wanted if None in sizes else max(1, min(wanted, blocks))


def _finished_before(out_dir: Path, identity: dict[str, Any], *, resume: bool) -> CorpusStore:
    """The store that is there already, if going on with it is what was asked for."""
    if not (out_dir / MANIFEST).is_file():
        raise ConfigError(f"{out_dir}: is there already and holds no corpus; name a new directory")
    if not resume:
        raise ConfigError(f"{out_dir}: holds a corpus already; name a new directory, or delete this one")
    store = CorpusStore.open(out_dir)
    difference = first_difference(store.manifest, identity)
    if difference is not None:
        raise ResumeError(
            f"{out_dir}: is a finished corpus, but {difference}; name a new directory, or delete this one"
        )
    remove_work(out_dir, thing="corpus")
    return store


def _as_json(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, indent=2, ensure_ascii=False).encode("utf-8") + b"\n"
