"""`elmo neighbors`: the nearest neighbours of a word in its context."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elmo.analysis.choices import Words
from elmo.apps.cli import options
from elmo.apps.cli.embed import parse_layers
from elmo.apps.cli.packaged_text import check_packaged_text
from elmo.errors import InputError, UserError

if TYPE_CHECKING:
    from elmo.analysis.neighbors import Answer, Neighbor, Question


def neighbors(
    word: Annotated[str | None, typer.Argument(help="The word to ask about.")] = None,
    sentence: Annotated[str | None, typer.Argument(help="A sentence with the word.")] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions", help="A file of questions instead, or -: word<TAB>sentence, and <TAB>occurrence if needed."
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            "--text",
            help="Text files or directories to search (several times); 460 packaged English sentences if none.",
        ),
    ] = None,
    index: Annotated[
        Path | None, typer.Option("--index", help="An index to search instead (elmo index build makes one).")
    ] = None,
    tokenized: options.Tokenized = False,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many neighbours.")] = 5,
    words: Annotated[
        Words, typer.Option("--words", help="Look at all words, only at the same word, or only at other words.")
    ] = "all",
    occurrence: Annotated[
        int | None,
        typer.Option("--occurrence", min=1, help="Which one, where the sentence has the word several times."),
    ] = None,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Bank in the sentence is the word bank.")] = False,
    layers: Annotated[
        str | None, typer.Option("--layers", help="top (default), mean, or the number of one layer (0: tokens).")
    ] = None,
    model: options.Model = None,
    device: options.Device = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a neighbour.")] = False,
) -> None:
    """Show the words of other sentences whose vectors are nearest to that of a word in its sentence.

    The text is embedded once for all questions of a call; with --index it was embedded before, and all its words are
    searched at once. Of each neighbour its file and line are told.

    Example: elmo neighbors play "The actors rehearsed the play for weeks."
    """
    from elmo.analysis.examples import read_collection
    from elmo.analysis.neighbors import Question, answer_questions
    from elmo.embed.loading import load
    from elmo.text.lines import expand_paths
    from elmo.text.textfiles import PlacedSentence, placed_sentences

    if questions is not None:
        if word is not None or occurrence is not None:
            raise UserError("--questions has the words and sentences; leave out WORD, SENTENCE and --occurrence")
        asked = list(read_questions(questions))
    elif word is None or sentence is None:
        raise UserError("a word and a sentence with it are wanted, or a file of both with --questions")
    else:
        asked = [Question(word, sentence, occurrence)]
    if index is not None and (text or tokenized):
        raise UserError("--index has its text in it; leave out --text and --tokenized")
    embedder = load(model, device=device)
    if index is not None:
        from elmo.analysis.index import answer_from_index, open_index

        found = answer_from_index(
            embedder, asked, open_index(index), layer=layers, count=count, words=words, ignore_case=ignore_case
        )
        require_found(found, words)
        tell(found, as_json=as_json, with_questions=questions is not None)
        return
    if text:
        sentences: Iterable[PlacedSentence] | Iterable[list[str]] = placed_sentences(
            text, embedder.model.tokenizer, tokenized=tokenized
        )
    else:
        check_packaged_text(embedder, model)
        tokenizer = embedder.model.tokenizer
        sentences = (tokenizer.tokenize(one).words for one in read_collection())
    found = answer_questions(
        embedder,
        asked,
        sentences,
        layers=parse_layers(layers or "top"),
        count=count,
        words=words,
        ignore_case=ignore_case,
        files=expand_paths(text or ()),
    )
    require_found(found, words)
    tell(found, as_json=as_json, with_questions=questions is not None)


def require_found(answers: Sequence["Answer"], words: Words) -> None:
    """Fail where there is nothing to tell."""
    if not any(answer.neighbors for answer in answers):
        asked = answers[0].asked.word
        raise InputError(f"no word to compare with {asked!r} (--words {words}) in the sentences searched")


def tell(answers: Sequence["Answer"], *, as_json: bool, with_questions: bool) -> None:
    """Print the neighbours, best first; `with_questions`: below each question."""
    for number, answer in enumerate(answers, start=1):
        if with_questions and not as_json:
            none = "" if answer.neighbors else ": no word to compare with"
            typer.echo(("" if number == 1 else "\n") + answer.asked.marked + none)
        for neighbor in answer.neighbors:
            typer.echo(_object(number, answer.asked, neighbor) if as_json else _line(neighbor))


def read_questions(path: str) -> Iterator["Question"]:
    """The questions of a file, one a line."""
    from elmo.analysis.neighbors import Question
    from elmo.text.lines import read_lines

    none = True
    for number, line in read_lines(path):
        if not line.strip():
            continue
        none = False
        word, *rest = line.split("\t")
        if len(rest) not in (1, 2) or not word.strip() or not rest[0].strip():
            raise InputError(f"{path}: line {number} is not `word<TAB>sentence`, or with <TAB>occurrence behind it")
        if len(rest) == 2 and not (rest[1].strip().isdecimal() and len(rest[1]) < 10 and int(rest[1]) > 0):
            raise InputError(f"{path}: line {number} has the occurrence {rest[1][:20]!r}; a number from 1 is wanted")
        occurrence = int(rest[1]) if len(rest) == 2 else None
        yield Question(word.strip(), rest[0], occurrence, f"{path}: line {number}")
    if none:
        raise InputError(f"{path}: has no questions")


def _line(neighbor: "Neighbor") -> str:
    where = "" if neighbor.file is None else f"{neighbor.file}:{neighbor.line}  "
    return f"{neighbor.similarity:6.3f}  {where}{neighbor.marked}"


def _object(number: int, asked: "Neighbor", neighbor: "Neighbor") -> str:
    values = {
        "question": number,
        "asked": asked.marked,
        "similarity": round(neighbor.similarity, 4),
        "word": neighbor.word,
        "place": neighbor.place,
        "tokens": neighbor.tokens,
        "file": neighbor.file,
        "line": neighbor.line,
    }
    return json.dumps(values, ensure_ascii=False)
