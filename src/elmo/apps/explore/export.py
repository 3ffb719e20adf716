"""The page as one file: its modules put together, and the data of some words in it. It needs no server and no model."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elmo.analysis.uses import Uses
from elmo.apps.explore.data import MADE_UP, PAIRS, Explorer, Object, UsesQuestion
from elmo.errors import InputError

STATIC = Path(__file__).parent / "static"
MAIN = "main.js"
MOST_USES = 200  # of a word: the cosines of all pairs are in the file
COSINE_STEPS = 10_000

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const|let) (\w+)", re.MULTILINE)


def one_page(explorer: Explorer, words: Sequence[str]) -> str:
    """A page with the uses of some words, the examples of sentences and of made-up words."""
    page = (STATIC / "index.html").read_text("utf-8")
    style, script = (STATIC / "page.css").read_text("utf-8"), one_script()
    icon = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode("ascii")
    data = json.dumps(page_data(explorer, words), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    replaced = {
        '<meta charset="utf-8">': f'<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" '
        f'content="{policy}">',
        'href="explore/static/icon.svg"': f'href="data:image/svg+xml;base64,{icon}"',
        '<link rel="stylesheet" href="explore/static/page.css">': f"<style>{style}</style>",
        '<script type="module" src="explore/static/main.js"></script>': "",
        "  </body>": f'<script type="application/json" id="data">{data}</script>\n'
        f'<script type="module">{script}</script>\n  </body>',
    }
    for before, after in replaced.items():
        head, found, rest = page.partition(before)
        assert found, f"the page has no {before}"
        page = head + after + rest
    return page


def one_script() -> str:
    """All modules as one script: each is a function that gives what it exports, after those that it imports from."""
    modules: dict[str, str] = {}

    def add(name: str) -> None:
        if name in modules:
            return
        source = (STATIC / name).read_text("utf-8")
        for _, other in _IMPORT.findall(source):
            add(other)
        exported = ", ".join(name for _, name in _EXPORT.findall(source))
        body = _IMPORT.sub(
            lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {_variable(found[2])};\n", source
        )
        body = _EXPORT.sub(r"\1 \2", body)
        modules[name] = f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"

    add(MAIN)
    return "".join(modules.values())


def page_data(explorer: Explorer, words: Sequence[str]) -> Object:
    """The answers to what the page may ask without a model."""
    if not words:
        raise InputError("no word is named; a page in one file holds the uses of some words")
    sentences = Sentences()
    answers = {}
    for first, second in PAIRS:
        for centred in (False, True):
            fields = {"first": first, "second": second, "centred": centred}
            answers[_asked("compare", fields)] = explorer.compare(first, second, centred=centred)
    for word, sentence in MADE_UP:
        tokens = explorer.read_sentence(sentence)
        place = tokens.index(word)
        answers[_asked("tokens", {"sentence": sentence})] = {"tokens": tokens}
        answers[_asked("near", {"sentence": sentence, "place": place})] = explorer.near(sentence, place)
    return {
        "start": {**explorer.start(), "examples": list(dict.fromkeys(words))},
        "words": {word: _word(explorer, word, sentences) for word in dict.fromkeys(words)},
        "sentences": sentences.all,
        "answers": answers,
    }


class Sentences:
    """The sentences that are named in the data, each kept once."""

    def __init__(self) -> None:
        self.all: list[list[str]] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def number(self, tokens: list[str]) -> int:
        """The number of a sentence, which is a new one if it was not named before."""
        number = self._numbers.setdefault(tuple(tokens), len(self.all))
        if number == len(self.all):
            self.all.append(tokens)
        return number


def _word(explorer: Explorer, word: str, sentences: Sentences) -> Object:
    """All that the page asks about a word."""
    wanted = UsesQuestion(word, most=MOST_USES)
    found, uses = explorer.uses(wanted), explorer.find(wanted)
    for use in found["uses"]:
        use["tokens"] = sentences.number(use["tokens"])
    near = [explorer.neighbors(wanted, use) for use in range(len(uses))]
    for one in near:
        one["layers"] = [
            [[sentences.number(near["tokens"]), near["place"], near["similarity"]] for near in layer]
            for layer in one["layers"]
        ]
    layers = range(explorer.embedder.layer_count)
    return {
        "uses": found,
        "plain": _packed(uses, centred=False),
        "centred": _packed(uses, centred=True),
        "clusterings": [explorer.clusters(wanted, layer)["clusterings"] for layer in layers],
        "neighbors": near,
    }


def _packed(uses: Uses, *, centred: bool) -> str:
    """The cosines of all pairs [L, N, N] as whole numbers in 16 bits, little-endian, in base64."""
    cosines: npt.NDArray[Any] = np.stack([uses.likeness(n, centred=centred) for n in range(len(uses))], axis=1)
    return base64.b64encode((cosines * COSINE_STEPS).round().astype("<i2").tobytes()).decode("ascii")


def _asked(name: str, fields: Object) -> str:
    """What the page looks an answer up by: `JSON.stringify([name, fields])`."""
    return json.dumps([name, fields], ensure_ascii=False, separators=(",", ":"))


def _variable(module: str) -> str:
    return f"module_{module.removesuffix('.js')}"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode('ascii')}'"
