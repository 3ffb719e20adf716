"""How often is wrapped text taken for whole lines, and whole lines for wrapped text?

    python -m benchmarks.text.wrapping --paragraphs en:wiki.txt de:novels.txt --wrapped book.txt --whole poems.txt

Files of --paragraphs have a paragraph a line, in the language before the colon. Samples of them are made into text of
many kinds, wrapped at many widths and not wrapped; --wrapped and --whole are judged as they are. Prints a table, and
each text that was judged wrongly.
"""

import argparse
import os
import random
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from elmo.text.lines import read_lines
from elmo.text.tokenizer import Tokenizer
from elmo.text.wrapped import LineBreaks, sample_of, study_breaks

WIDTHS = (40, 50, 60, 66, 72, 80, 100, 120, 160)
WIDTHS_OF_IDEOGRAPHS = (30, 35, 40, 60)
SAMPLE_BYTES = 150_000
Kind = tuple[str, bool, str]  # its name, whether it is wrapped, the text


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paragraphs", nargs="*", default=[], metavar="LANGUAGE:FILE")
    parser.add_argument("--wrapped", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--whole", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--samples", type=int, default=6, help="of each file of paragraphs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)

    texts, wrong = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()

    def judge(name: str, wrapped: bool, breaks: LineBreaks, source: str) -> None:
        texts[name, wrapped] += 1
        if breaks.wrapped != wrapped:
            wrong[name, wrapped] += 1
            print(f"wrong: {source}: {name}: {breaks}")

    chooser = random.Random(options.seed)
    for given in options.paragraphs:
        language, _, path = given.partition(":")
        for _ in range(options.samples):
            for name, wrapped, text in kinds(sample(path, chooser), language, chooser):
                judge(name, wrapped, study_breaks(text.split("\n")), path)
    for wrapped, paths in ((True, options.wrapped), (False, options.whole)):
        for path in paths:
            lines = sample_of(read_lines(path))
            judge("a file as it is", wrapped, study_breaks(line for _, line in lines), path)
    print(f"{'':64}{'texts':>6}{'wrong':>6}")
    for (name, wrapped), count in sorted(texts.items(), key=lambda item: not item[0][1]):
        print(f"{'wrapped' if wrapped else 'whole':9}{name:55}{count:6}{wrong[name, wrapped]:6}")


def sample(path: str, chooser: random.Random) -> list[str]:
    """Paragraphs from somewhere in a file."""
    with open(path, "rb") as file:
        file.seek(chooser.randrange(max(1, os.path.getsize(path) - SAMPLE_BYTES)))
        file.readline()
        text = file.read(SAMPLE_BYTES).decode("utf-8", "ignore")
    return [line.strip() for line in text.split("\n")[:-1] if line.strip()][:600]


def kinds(paragraphs: list[str], language: str, chooser: random.Random) -> Iterator[Kind]:
    """The same text in many shapes."""
    tokenizer = Tokenizer("treebank" if language == "en" else "unicode", language)
    parted = [[text[a:b] for a, b in tokenizer.split_sentences(text)] for text in paragraphs]
    sentences = [sentence for found in parted for sentence in found]
    bare = [re.sub(r"[^\w\s]", "", sentence).lower() for sentence in sentences]
    tokenized = [" ".join(words) for text in paragraphs for words in tokenizer.sentence_words(text)]
    for name, lines in {
        "a paragraph a line": paragraphs,
        "a sentence a line": sentences,
        "a sentence a line, blank lines between paragraphs": "\n\n".join(map("\n".join, parted)).split("\n"),
        "sentences of 60 to 80 characters": of_like_length(sentences),
        "sentences in lower case without marks": bare,
        "the same, of 60 to 80 characters": of_like_length(bare),
        "tokenized": tokenized,
        "tokenized, in lower case": [line.lower() for line in tokenized],
        "a word a line": sorted(set(" ".join(paragraphs).split())),
        "a clause a line": [clause for text in paragraphs for clause in re.split(r"(?<=[,;.?!]) ", text)],
        "headlines": [" ".join(text.split()[: chooser.randrange(5, 13)]) for text in paragraphs],
        "verse": verse(paragraphs, chooser),
        "verse in lower case": [line.lower() for line in verse(paragraphs, chooser)],
    }.items():
        yield name, False, "\n".join(lines)
    for width in WIDTHS_OF_IDEOGRAPHS if language in ("zh", "ja") else WIDTHS:
        filled = [fill(text, width, language) for text in paragraphs]
        yield "blank lines between paragraphs", True, "\n\n".join(filled)
        yield "no blank lines", True, "\n".join(filled)
        yield "first lines indented", True, "\n".join(fill(f"   {text}", width, language) for text in paragraphs)


def of_like_length(lines: list[str]) -> list[str]:
    return [line for line in lines if 60 <= len(line) <= 80]


def verse(paragraphs: list[str], chooser: random.Random) -> list[str]:
    """Six to eight words a line, each line with a capital, four lines in a stanza."""
    words = iter(" ".join(paragraphs).split())
    lines: list[str] = []
    while line := [word for word, _ in zip(words, range(chooser.randrange(6, 9)), strict=False)]:
        text = " ".join(line)
        lines += [text[:1].upper() + text[1:]] + [""] * (len(lines) % 5 == 3)
    return lines


def fill(text: str, width: int, language: str) -> str:
    """A paragraph cut at a width: between words, or anywhere where there are none."""
    if language in ("zh", "ja"):
        return "\n".join(text[start : start + width] for start in range(0, len(text), width))
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
