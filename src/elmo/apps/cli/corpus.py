"""`elmo corpus build`: text to the corpus store that training reads."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.reading import choose_tokenizer, is_store
from elmo.corpus.block import Documents


def build(
    text: Annotated[list[str], typer.Argument(help="Text files (plain, .gz, .xz, .zst), directories, or -.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The store to make, a directory.")],
    rule: options.RuleOption = None,
    language: options.Language = None,
    tokenized: options.Tokenized = False,
    lines: options.LinesOption = "auto",
    documents: Annotated[Documents, typer.Option("--documents", help="What a document is.")] = "files",
    vocabulary_size: Annotated[
        int | None, typer.Option("--vocabulary-size", help="Entries of the softmax vocabulary, at most (800000).")
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option("--min-count", help="Occurrences that a word needs (3 if nothing limits the vocabulary)."),
    ] = None,
    coverage: Annotated[
        float | None, typer.Option("--coverage", help="The share of the text to cover, 0.98 say.")
    ] = None,
    vocabulary: Annotated[Path | None, typer.Option("--vocabulary", help="Use this vocabulary file.")] = None,
    heldout: Annotated[
        float,
        typer.Option("--heldout", help="The share of the text to hold out; 2,000 to 250,000 tokens of a large text."),
    ] = 0.01,
    heldout_file: Annotated[
        list[Path] | None, typer.Option("--heldout-file", help="Hold out this file instead; may be given again.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides what is held out.")] = 0,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes; as many as processors.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted build.")] = False,
) -> None:
    """Make a corpus store: token stream, type table, vocabulary, held-out split.

    Example: elmo corpus build texts/ -o corpus --rule unicode --language de
    """
    from elmo.corpus.build import build_corpus

    finished = resume and is_store(str(output))
    store = build_corpus(
        text,
        output,
        tokenizer=choose_tokenizer(rule, language, tokenized=tokenized),
        tokenized=tokenized,
        lines=lines,
        documents=documents,
        vocabulary_size=vocabulary_size,
        min_count=min_count,
        coverage=coverage,
        vocabulary=vocabulary,
        heldout=heldout_file if heldout_file else heldout,
        seed=seed,
        workers=workers,
        resume=resume,
    )
    if finished:
        typer.echo(f"{output}: is finished already; nothing to resume", err=True)
    for split, counts in store.counts.items():
        outside = store.manifest["coverage"][split]["unknown_rate"]
        typer.echo(
            f"{split}: {counts.words:,} tokens in {counts.sentences:,} sentences, {outside:.2%} out of vocabulary"
        )
    typer.echo(f"{store.types - 1:,} distinct words, a vocabulary of {len(store.vocabulary):,}")
