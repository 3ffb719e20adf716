"""Text files to an index. The only module that knows the whole way; each step is a module of its own.

1. The text is cut into parts (`parts`); each is embedded, and kept on disk in a folder beside the index. A finished
   part is never made again.
2. The parts are merged into the files of the index (`merge`), which then takes its name.

On disk the parts take as much as the index; both stand there until it is complete. Memory holds two parts (64 MB of
vectors each), a block of rows, and a list of the distinct words.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from elmo.analysis.choices import VectorStore
from elmo.analysis.index.checks import manifest_bytes
from elmo.analysis.index.layout import FORMAT, MANIFEST, STORED, IndexManifest
from elmo.analysis.index.merge import merge_parts
from elmo.analysis.index.parts import (
    SENTENCES_SHA256,
    Wanted,
    cut_into_parts,
    digest_sentences,
    file_numbers,
    layer_names,
    make_part,
    part_about,
)
from elmo.analysis.index.wordindex import WordIndex, open_index
from elmo.disk.differences import first_difference
from elmo.disk.workfiles import Arrays, dump_arrays, read_about
from elmo.disk.workfolder import WorkFolder, has_unfinished_work, is_taken, remove_work, work_folder
from elmo.disk.writing import write_file
from elmo.embed.bulk.pipeline import Behind, ahead
from elmo.embed.bulk.progress import TextBar
from elmo.embed.choices import Layers
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError, ResumeError
from elmo.text.lines import expand_paths, refuse_output_in_source
from elmo.text.textfiles import Paths, PlacedSentence, placed_sentences

PARTS_AHEAD, PARTS_BEHIND = 1, 1
THING = "index"


def build_index(
    embedder: Embedder,
    paths: Paths,
    out_dir: str | os.PathLike[str],
    *,
    layers: Layers | Sequence[Layers] = "top",
    store: VectorStore = "float16",
    tokenized: bool = False,
    only_words: Sequence[str] | None = None,
    most_uses: int | None = None,
    model_name: str = "",
    resume: bool = False,
    show_progress_bar: bool | None = None,
) -> WordIndex:
    """Make an index of the words of some text files, and open it.

    Args:
        embedder: The model; an index is searched with the same one alone.
        paths: Files (plain, .gz, .xz, .zst), directories, or "-" for standard input. UTF-8.
        out_dir: Where the index is to be; must not exist, or be empty. Unfinished work is kept beside it, in
            `<out_dir>.building`.
        layers: Which vectors are kept: "top", "mean", "all" or a number, or several of these. Each costs D numbers a
            token; layer 0, which has no context, D numbers a distinct word.
        store: Their type: float16 (2 bytes a number), or int8 (1 byte; cosines change in the third decimal).
        tokenized: Lines are sentences whose tokens stand between white space; otherwise raw text.
        only_words: Keep the uses of these words alone, in upper and lower case; sentences without them are left out.
        most_uses: Keep at most so many uses of each word, chosen evenly at random (always the same ones).
        model_name: How the model is called, to tell people which one the index wants.
        resume: Go on from what an interrupted build of the same index left; without any, begin.
        show_progress_bar: None: on a terminal.
    """
    out_dir = Path(out_dir)
    if store not in STORED:
        raise ConfigError(f"store is {store!r}; it must be one of {', '.join(map(repr, STORED))}")
    if most_uses is not None and most_uses < 1:
        raise ConfigError(f"most_uses is {most_uses}; it must be at least 1")
    if embedder.state == "carry":
        raise ConfigError("state is 'carry', with which vectors depend on what came before; take 'settled' or 'zero'")
    words = None if only_words is None else sorted({word.lower() for word in only_words})
    if words is not None and not words:
        raise ConfigError("only_words has no words; leave it out, or name some")
    wanted = Wanted(
        layers=layer_names(layers, embedder.layer_count),
        store=store,
        only_words=None if words is None else frozenset(words),
    )
    paths = [paths] if isinstance(paths, str) else list(paths)
    files = expand_paths(paths)
    for path in paths:
        refuse_output_in_source(os.fspath(path), out_dir)
    identity: dict[str, Any] = {
        "format": FORMAT,
        "model": embedder.model.sha256,
        "state": embedder.state,
        "precision": embedder.precision,
        "dim": embedder.dim,
        "model_layers": embedder.layer_count,
        "layers": list(wanted.layers),
        "store": store,
        "tokenizer": embedder.model.tokenizer.to_dict(),
        "tokenized": tokenized,
        "only_words": words,
        "most_uses": most_uses,
        "files": files,
    }
    if is_taken(out_dir):
        return _finished_before(out_dir, identity, resume=resume)
    if not resume and has_unfinished_work(out_dir):
        raise ResumeError(
            f"{out_dir}.building: an interrupted build left its work; continue with --resume (resume=True), or delete "
            "that folder"
        )
    with work_folder(out_dir, identity, thing=THING, resume=resume) as work:
        sentences = placed_sentences(paths, embedder.model.tokenizer, tokenized=tokenized)
        with TextBar(files, unit="sentences", show=show_progress_bar) as bar:
            count = _make_parts(work, embedder, sentences, wanted, files=files, bar=bar)
            bar.complete()
        if not count:
            raise InputError(_nothing(files, words))
        blocks = [work.block_path(number) for number in range(count)]
        counts, hashes = merge_parts(blocks, work.made, wanted, dim=embedder.dim, most_uses=most_uses)
        whole = {**identity, **counts, "model_name": model_name, "hashes": dict(sorted(hashes.items()))}
        write_file(work.made / MANIFEST, manifest_bytes(asdict(IndexManifest(**whole))))
        work.put_in_place(out_dir)
    return open_index(out_dir)


class _Made(NamedTuple):
    number: int
    arrays: Arrays
    about: dict[str, Any]


def _make_parts(
    work: WorkFolder,
    embedder: Embedder,
    sentences: Iterator[PlacedSentence],
    wanted: Wanted,
    *,
    files: Sequence[str],
    bar: TextBar,
) -> int:
    """Make the parts that the work folder lacks; how many there are now."""
    done = work.finished_blocks()
    numbers = file_numbers(files)

    def write(parts: Iterator[_Made]) -> None:
        for part in parts:
            write_file(work.block_path(part.number), dump_arrays(part.arrays, part.about))

    count = 0
    cut = ahead(cut_into_parts(sentences, embedder, wanted), depth=PARTS_AHEAD)
    with contextlib.closing(cut), Behind(write, depth=PARTS_BEHIND) as behind:
        for number, part in enumerate(cut):
            size = sum(len(word.encode("utf-8", "replace")) + 1 for sentence in part for word in sentence.words)
            if number < done:
                _check_part(work, number, part)
                bar.skip(size, count=len(part))
            else:
                behind.put(_Made(number, make_part(part, embedder, wanted, files=numbers), part_about(part)))
                bar.advance(size, count=len(part), tokens=sum(len(sentence.words) for sentence in part))
            count = number + 1
    if count < done:
        raise _changed(work)
    return count


def _check_part(work: WorkFolder, number: int, part: Sequence[PlacedSentence]) -> None:
    about = read_about(work.block_path(number), refusal=ResumeError)
    if about.get(SENTENCES_SHA256) != digest_sentences(part):
        raise _changed(work)


def _changed(work: WorkFolder) -> ResumeError:
    return ResumeError(
        f"{work.folder}: the text has changed since the interrupted build; delete that folder and start again"
    )


def _finished_before(out_dir: Path, identity: dict[str, Any], *, resume: bool) -> WordIndex:
    """The index that is there already, if going on with it is what was asked for."""
    if not (out_dir / MANIFEST).is_file():
        raise ConfigError(f"{out_dir}: is there already and holds no index; name a new directory")
    if not resume:
        raise ConfigError(f"{out_dir}: holds an index already; name a new directory, or delete this one")
    index = open_index(out_dir)
    difference = first_difference(asdict(index.manifest), identity)
    if difference is not None:
        raise ResumeError(f"{out_dir}: is a finished index, but {difference}; name a new directory, or delete this one")
    remove_work(out_dir, thing=THING)
    return index


def _nothing(files: Sequence[str], words: Sequence[str] | None) -> str:
    where = files[0] if len(files) == 1 else f"any of {len(files)} files, the first is {files[0]}"
    what = "sentence" if words is None else f"sentence with {words[0]!r}{' or another of the words' * (len(words) > 1)}"
    return f"no {what} in {where}"
