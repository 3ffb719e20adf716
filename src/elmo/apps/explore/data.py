"""What the page asks for, as objects for JSON: thin over `elmo.analysis`, and what was computed lately is kept."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from elmo.analysis.collection import Collection, Near, Passage, passages_of_text
from elmo.analysis.similarity import cosines
from elmo.analysis.uses import Uses, find_uses
from elmo.apps.explore.fields import LONGEST_SENTENCE, LONGEST_WORD, Fields
from elmo.embed.embedder import Embedder
from elmo.errors import InputError

Key, Value = TypeVar("Key"), TypeVar("Value")
Object = dict[str, Any]

# Words that are shown first where a text has them: each has clearly different senses in the packaged sentences.
EXAMPLES = ("bank", "play", "spring", "right", "mouse", "bark", "match", "letter")
PAIRS = (
    ("They pulled the canoe up on the bank of the river.", "She asked the bank for a loan to buy the house."),
    ("Turn right at the church.", "Everybody has the right to leave the country."),
    ("The dog chased the cat.", "The cat chased the dog."),
)
MADE_UP = (
    ("grindled", "She grindled the fish in a pan with butter."),
    ("florbs", "Three florbs were grazing in the meadow."),
    ("blickety", "It was a cold and blickety morning."),
)
USES, MOST_USES = 500, 5000
NEIGHBORS = 8
LONGEST_TEXT = 1_000_000  # characters of a pasted text: some ten thousand sentences
MOST_WORDS = 400  # offered in the list of words
KEPT_TEXTS, KEPT_USES = 4, 8


class UnknownTextError(InputError):
    """A pasted text that is not kept any more; the page gives it again."""


class Kept(Generic[Key, Value]):
    """The last few values that were computed, each once also when threads ask together."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """The value of a key."""
        with self._lock:
            if key not in self._values:
                self._values[key] = compute()
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            self._values.move_to_end(key)
            return self._values[key]


class Explorer:
    """Answers to the page's requests about a model and a collection, and about texts that are pasted."""

    def __init__(self, embedder: Embedder, passages: Sequence[Passage], *, model: str, source: str) -> None:
        self.embedder, self.model, self.source = embedder, model, source
        self._main = Collection(embedder, passages)
        self._texts: Kept[str, Collection] = Kept(KEPT_TEXTS)
        self._uses: Kept[tuple[str, str, int, bool], Uses] = Kept(KEPT_USES)
        self._comparing = Lock()

    def start(self, _fields: Fields) -> Object:
        """What the page says before a word is asked for."""
        tokenizer = self.embedder.model.tokenizer
        return {
            "model": self.model,
            "layers": layer_names(self.embedder.layer_count),
            "language": tokenizer.language or "",
            "source": self.source,
            **self._size(self._main),
            "examples": self.examples(),
            "pairs": PAIRS,
            "made_up": MADE_UP,
            "most_uses": MOST_USES,
            "longest_text": LONGEST_TEXT,
        }

    def examples(self) -> list[str]:
        """Words to begin with: the well-known ones that are used often enough, or the most frequent long words."""
        known = [word for word in EXAMPLES if len(self._main.places(word)) >= 8]
        return known if len(known) >= 4 else _interesting(self._main)[:8]

    def words(self, fields: Fields) -> Object:
        """The words of a text that are used at least three times, the most frequent first."""
        counts = self._collection(fields).counts().most_common()
        found = [[word, count] for word, count in counts if count >= 3 and any(map(str.isalnum, word))]
        return {"words": found[:MOST_WORDS]}

    def text(self, fields: Fields) -> Object:
        """Take a pasted text; the answer has the name that the other requests call it by."""
        text = fields.text("content", longest=LONGEST_TEXT)
        name = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
        collection = self._texts.get(name, lambda: self._read(text))
        return {"text": name, **self._size(collection), "examples": _interesting(collection)[:8]}

    def uses(self, fields: Fields) -> Object:
        """The uses of a word and their place on the map in each layer."""
        uses = self.find(fields)
        points, explained = uses.planes()
        senses = uses.senses
        return {
            "word": uses.word,
            "found": uses.found,
            "uses": [
                {
                    "tokens": passage.tokens,
                    "place": place.token,
                    "sentence": place.sentence,
                    "sense": sense,
                    "file": passage.file,
                    "line": passage.line,
                }
                for passage, place, sense in zip(uses.passages, uses.places, senses, strict=True)
            ],
            "points": points.round(4).tolist(),
            "explained": explained.round(4).tolist(),
        }

    def likeness(self, fields: Fields) -> Object:
        """The cosine of one use with each other, layer by layer."""
        uses = self.find(fields)
        use = fields.number("use", least=0, most=len(uses) - 1)
        return {"cosines": uses.likeness(use, centred=fields.switch("centred")).round(4).tolist()}

    def clusters(self, fields: Fields) -> Object:
        """The uses in two to six clusters by their vectors of a layer."""
        uses = self.find(fields)
        layer = fields.number("layer", least=0, most=self.embedder.layer_count - 1)
        return {
            "clusterings": [
                {"count": count, "labels": found.labels.tolist(), "silhouette": round(found.silhouette, 3)}
                for count, found in uses.clusterings(layer).items()
            ]
        }

    def compare(self, fields: Fields) -> Object:
        """The cosine of each word of a sentence with each of another, layer by layer."""
        sentences = [self._sentence(fields, name) for name in ("first", "second")]
        mean = self._main.mean if fields.switch("centred") else 0.0
        first, second = self.embedder.encode(sentences, layers="all", show_progress_bar=False)
        return {
            "first": sentences[0],
            "second": sentences[1],
            "cosines": cosines(first, second, mean=mean).round(4).tolist(),
        }

    def neighbors(self, fields: Fields) -> Object:
        """The words of the text that are nearest to one use of a word, layer by layer."""
        uses = self.find(fields)
        use = fields.number("use", least=0, most=len(uses) - 1)
        with self._comparing:
            found = uses.neighbors(use, count=NEIGHBORS)
        return self._layers_of_near(uses.collection, found)

    def near(self, fields: Fields) -> Object:
        """The words of a text that are nearest to a word of a sentence, layer by layer."""
        collection = self._collection(fields)
        tokens = self._sentence(fields, "sentence")
        place = fields.number("place", least=0, most=len(tokens) - 1)
        with self._comparing:  # the first that asks embeds the text, and the others wait for it
            found = collection.near(tokens, place, words="all", count=NEIGHBORS)
        return {
            "tokens": tokens,
            "place": place,
            "known": bool(collection.places(tokens[place], ignore_case=True)),
            **self._layers_of_near(collection, found),
        }

    def tokens(self, fields: Fields) -> Object:
        """A sentence as the model reads it."""
        return {"tokens": self._sentence(fields, "sentence")}

    def _layers_of_near(self, collection: Collection, found: Sequence[Sequence[Near]]) -> Object:
        return {
            "searched": collection.searched.sentences,
            "sentences": len(collection.passages),
            "layers": [[_near(collection, near) for near in layer] for layer in found],
        }

    def _sentence(self, fields: Fields, name: str) -> list[str]:
        words = self.embedder.model.tokenizer.tokenize(fields.text(name, longest=LONGEST_SENTENCE)).words
        if not words:
            raise InputError(f"{name!r} has no words; type a sentence")
        return words

    def find(self, fields: Fields) -> Uses:
        """The uses of a word with their vectors, as the page's requests name them."""
        collection = self._collection(fields)
        text = fields.text("text", longest=16, default="")
        word = fields.text("word", longest=LONGEST_WORD)
        most = fields.number("most", least=3, most=MOST_USES, default=USES)
        ignore_case = fields.switch("ignore_case")
        return self._uses.get(
            (text, word, most, ignore_case),
            lambda: find_uses(collection, word, most=most, ignore_case=ignore_case),
        )

    def _collection(self, fields: Fields) -> Collection:
        name = fields.text("text", longest=16, default="")
        if not name:
            return self._main

        def lost() -> Collection:
            raise UnknownTextError("this page was about a pasted text that is not here any more; paste it again")

        return self._texts.get(name, lost)

    def _read(self, text: str) -> Collection:
        passages = list(passages_of_text(text, self.embedder.model.tokenizer))
        if not passages:
            raise InputError("the text has no words; paste some sentences")
        return Collection(self.embedder, passages)

    def _size(self, collection: Collection) -> Object:
        return {
            "sentences": len(collection.passages),
            "tokens": sum(len(passage.tokens) for passage in collection.passages),
        }


def layer_names(count: int) -> list[str]:
    """What the layers are called."""
    return ["tokens", *(f"LSTM {layer}" for layer in range(1, count))]


def _near(collection: Collection, near: Near) -> Object:
    passage = collection.passages[near.place.sentence]
    return {
        "tokens": passage.tokens,
        "place": near.place.token,
        "similarity": round(near.similarity, 4),
        "file": passage.file,
        "line": passage.line,
    }


def _interesting(collection: Collection) -> list[str]:
    """Words worth a look: long enough to have a meaning, used more than a few times, the most frequent first."""
    counts = collection.counts().most_common()
    return [word for word, count in counts if count >= 5 and word.islower() and len(word) >= 4] or [
        word for word, count in counts if count >= 3 and any(map(str.isalnum, word))
    ]
