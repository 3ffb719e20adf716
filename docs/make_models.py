"""Writes docs/models.md from the table of models: python docs/make_models.py. A test says when the page is stale."""

from collections.abc import Iterable
from pathlib import Path

from elmo.weights.published.addresses import is_numbered
from elmo.weights.published.catalogue import KnownModel, known_models

PAGE = Path(__file__).with_name("models.md")
MANY = "manylangs-"
INTRODUCTION = """# Models by name

Made from the program's table by `docs/make_models.py`. Wherever a model is wanted, in Python or as `--model`, it may be
one of these names, a directory, or a file. `english` comes with the package. The others are downloaded when they are
first used, into the folder that `ELMO_CACHE` names (else the cache folder of the system), and their hash is kept.
`--offline` or `ELMO_OFFLINE=1` forbids it. `german` has no lasting address: get its files from its page by hand.

```sh
elmo models           # all of them, and which are on this machine
elmo models german    # by a part of the name or the language, or by its code
elmo models --json
```

The size is the number of parameters without the softmax; `unknown` where we have not found it published, and so with a
licence that is `not stated`. Such a licence gives you no rights: ask the authors before you pass the model on.
"""
MANYLANGS = """## ELMoForManyLangs

44 languages, each trained on 20 million words of the CoNLL 2017 texts (Che et al. 2018), from
https://github.com/HIT-SCIR/ELMoForManyLangs. Size unknown; licence of the models not stated, the program is under MIT.
They read words as well as characters.

| name | language | address |
|---|---|---|
"""
NLPL = """## NLPL's repository

`nlpl-NUMBER` is any ELMo model of https://vectors.nlpl.eu/repository/, as `nlpl-218`: look there for the number of your
language. The licence is in the archive's `meta.json`. Sentences are split at line ends, since an archive does not tell
its language.

Your language has none? [Train one](train-your-language.md).
"""


def page() -> str:
    """The whole page."""
    models = [model for model in known_models() if not is_numbered(model.name)]
    single = [model for model in models if not model.name.startswith(MANY)]
    head = "| name | language | size | what it is | licence | from |\n|---|---|---|---|---|---|\n"
    many = (
        f"| `{model.name}` | {model.language_name} | {model.addresses[0]} |"
        for model in models
        if model.name.startswith(MANY)
    )
    return "\n".join([INTRODUCTION, head + _lines(map(_row, single)), MANYLANGS + _lines(many), NLPL])


def _row(model: KnownModel) -> str:
    size = "unknown" if model.parameters is None else f"{model.parameters / 1e6:.1f} M"
    source = "[the package](english-model.md)" if model.page is None else model.page
    return f"| `{model.name}` | {model.language_name or '-'} | {size} | {model.about} | {model.licence} | {source} |"


def _lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
