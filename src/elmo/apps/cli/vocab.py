"""`elmo vocab`: build, check and repair the vocabulary of a softmax."""

from pathlib import Path
from typing import Annotated

import typer

from elmo.apps.cli import options
from elmo.apps.cli.reading import choose_tokenizer

Text = Annotated[list[str], typer.Argument(help="Text files (plain, .gz, .xz, .zst), directories, or -.")]


def build(
    text: Text,
    output: Annotated[Path, typer.Option("--output", "-o", help="The vocabulary file to write.")],
    vocabulary_size: Annotated[
        int | None, typer.Option("--vocabulary-size", help="Entries, the three specials included, at most.")
    ] = None,
    min_count: Annotated[int | None, typer.Option("--min-count", help="Keep words that occur this often.")] = None,
    coverage: Annotated[float | None, typer.Option("--coverage", help="Keep as few words as cover this share.")] = None,
    rule: options.RuleOption = None,
    language: options.Language = None,
    tokenized: options.Tokenized = False,
    overwrite: options.Overwrite = False,
) -> None:
    """Count the words of a text and write its vocabulary, most frequent first.

    Example: elmo vocab build corpus.txt -o vocab.txt --vocabulary-size 50000
    """
    from elmo.text.textfiles import count_words_of_files
    from elmo.text.vocabulary import Vocabulary

    options.refuse_existing(output, overwrite=overwrite)
    counts = count_words_of_files(text, choose_tokenizer(rule, language, tokenized=tokenized))
    vocabulary = Vocabulary.build(counts, size=vocabulary_size, min_count=min_count, coverage=coverage)
    vocabulary.write(output)
    covered = sum(counts[word] for word in vocabulary.words)
    typer.echo(f"{len(vocabulary):,} entries cover {covered / max(1, counts.total()):.2%} of {counts.total():,} tokens")


def check(
    vocabulary: Annotated[Path, typer.Argument(help="The vocabulary file.")],
    text: Annotated[
        list[str] | None, typer.Option("--text", help="A text to compare the order with; may be given again.")
    ] = None,
    fixed: Annotated[Path | None, typer.Option("--fix", help="Write a repaired vocabulary to this file.")] = None,
    rule: options.RuleOption = None,
    language: options.Language = None,
    tokenized: options.Tokenized = False,
    overwrite: options.Overwrite = False,
) -> int:
    """Check a vocabulary file: specials, duplicates, blank lines, encoding, order by frequency.

    Example: elmo vocab check vocab.txt --fix repaired.txt
    """
    from elmo.text.textfiles import count_words_of_files
    from elmo.text.vocabulary_check import check as find
    from elmo.text.vocabulary_check import fix

    tokenizer = choose_tokenizer(rule, language, tokenized=tokenized)
    counts = count_words_of_files(text, tokenizer) if text else None
    findings = find(vocabulary, counts)
    for finding in findings:
        typer.echo(str(finding))
    if fixed is None:
        typer.echo("ok" if not findings else f"{len(findings)} findings; --fix FILE writes a repaired vocabulary")
        return 1 if findings else 0
    options.refuse_existing(fixed, overwrite=overwrite)
    repair = fix(vocabulary, counts)
    repair.vocabulary.write(fixed)
    for finding in repair.cured:
        typer.echo(f"repaired: {finding.cure}")
    return 0
