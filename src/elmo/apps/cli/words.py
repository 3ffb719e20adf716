"""`elmo words`: vectors of words without a sentence, for programs that read word2vec's files."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.output import say


def words(
    vocabulary: Annotated[str, typer.Argument(help="A file with one word a line (a model's vocab.txt, say), or -.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, .bin by custom.")],
    model: options.Model = None,
    device: options.Device = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write the vectors of words by themselves (layer 0, from their letters) as word2vec's binary file.

    gensim reads it with KeyedVectors.load_word2vec_format(FILE, binary=True). Any spelling has a vector.

    Example: elmo words vocab.txt -o words.bin
    """
    from elmo.embed.loading import load
    from elmo.embed.wordvectorfile import read_words, write_word2vec
    from elmo.errors import InputError

    options.refuse_existing(output, overwrite=overwrite)
    found = read_words(vocabulary)
    if not found:
        raise InputError(f"{vocabulary}: has no words; one a line is wanted")
    embedder = load(model, device=device)
    write_word2vec(embedder, found, output)
    say(f"{output}: {len(found):,} words, {embedder.dim} numbers each")
