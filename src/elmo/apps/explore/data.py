"""What the page asks for, as objects for JSON: thin over `elmo.analysis`, and what was computed lately is kept."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from elmo.analysis.collection import Collection, passages_of_text
from elmo.analysis.heatmap import compare_sentences
from elmo.analysis.layernames import layer_title
from elmo.analysis.neighbors import Neighbor
from elmo.analysis.textcollection import TextCollection
from elmo.analysis.uses import Uses, find_uses
from elmo.errors import InputError

Key = TypeVar("Key")
Value = TypeVar("Value")
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
LONGEST_SENTENCE = 2000
MOST_WORDS = 400  # offered in the list of words
KEPT_TEXTS, KEPT_USES = 4, 8


class UnknownTextError(InputError):
    """A pasted text that is not kept any more; the page gives it again."""


class UsesQuestion(NamedTuple):
    """Which uses are asked about: of a word, in a pasted text or the main one, how many."""

    word: str
    text: str = ""
    most: int = USES
    ignore_case: bool = False


class LastValues(Generic[Key, Value]):
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
    """Answers to the page's requests about a collection, and about texts that are pasted.

    `model` and `source` are what the page calls the model and the collection; `tasks` are the trained tasks that the
    server answers for (/predict), each with its kind.
    """

    def __init__(
        self, collection: Collection, *, model: str, source: str, tasks: Mapping[str, str] | None = None
    ) -> None:
        self.embedder, self.model, self.source = collection.embedder, model, source
        self.tasks = dict(tasks or {})
        self._main = collection
        self._texts: LastValues[str, Collection] = LastValues(KEPT_TEXTS)
        self._uses: LastValues[UsesQuestion, Uses] = LastValues(KEPT_USES)
        self._looking = Lock()

    def start(self) -> Object:
        """What the page says before a word is asked for."""
        tokenizer = self.embedder.model.tokenizer
        return {
            "model": self.model,
            "layers": [layer_title(layer).partition(":")[0] for layer in range(self.embedder.layer_count)],
            "language": tokenizer.language or "",
            "source": self.source,
            **_size(self._main),
            "examples": self.examples(),
            "pairs": PAIRS,
            "made_up": MADE_UP,
            "tasks": [{"name": name, "kind": kind} for name, kind in self.tasks.items()],
            "most_uses": MOST_USES,
            "longest_text": LONGEST_TEXT,
        }

    def examples(self) -> list[str]:
        """Words to begin with: the well-known ones that are used often enough, or frequent long words."""
        known = [word for word in EXAMPLES if self._main.places(word, most=1)[1] >= 8]
        return known if len(known) >= 4 else _interesting(self._main)

    def words(self, text: str = "") -> Object:
        """The words of a text that are used at least three times, the most frequent first."""
        found = self._collection(text).words(MOST_WORDS)
        return {"words": [[word, count] for word, count in found if count >= 3 and any(map(str.isalnum, word))]}

    def take_text(self, content: str) -> Object:
        """Take a pasted text; the answer has the name that the other requests call it by."""
        name = hashlib.sha256(content.encode("utf-8")).hexdigest()[:16]
        collection = self._texts.get(name, lambda: self._read(content))
        return {"text": name, **_size(collection), "examples": _interesting(collection)}

    def uses(self, wanted: UsesQuestion) -> Object:
        """The uses of a word and their place on the map in each layer."""
        uses = self.find(wanted)
        points, explained = uses.planes()
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
                for passage, place, sense in zip(uses.passages, uses.places, uses.senses, strict=True)
            ],
            "points": points.round(4).tolist(),
            "explained": explained.round(4).tolist(),
        }

    def likeness(self, wanted: UsesQuestion, use: int, *, centred: bool) -> Object:
        """The cosine of one use with each other, layer by layer."""
        uses = self.find(wanted)
        return {"cosines": uses.likeness(_one_of(use, uses), centred=centred).round(4).tolist()}

    def clusters(self, wanted: UsesQuestion, layer: int) -> Object:
        """The uses in two to six clusters by their vectors of a layer."""
        return {
            "clusterings": [
                {"count": count, "labels": found.labels.tolist(), "silhouette": round(found.silhouette, 3)}
                for count, found in self.find(wanted).clusterings(layer).items()
            ]
        }

    def neighbors(self, wanted: UsesQuestion, use: int) -> Object:
        """The words of the text that are nearest to one use of a word, layer by layer."""
        uses = self.find(wanted)
        with self._looking:  # the first that asks embeds the text, and the others wait for it
            found = uses.neighbors(_one_of(use, uses), count=NEIGHBORS)
        return _layers_of_near(uses.collection, found)

    def near(self, sentence: str, place: int, text: str = "") -> Object:
        """The words of a text that are nearest to a word of a sentence, layer by layer."""
        collection = self._collection(text)
        tokens = self.read_sentence(sentence)
        if place >= len(tokens):
            raise InputError(f"place is {place}, but the sentence has {len(tokens)} words, counted from 0")
        with self._looking:
            found = collection.near(tokens, place, count=NEIGHBORS)
        known = collection.places(tokens[place], most=1, ignore_case=True)[1] > 0
        return {"tokens": tokens, "place": place, "known": known, **_layers_of_near(collection, found)}

    def compare(self, first: str, second: str, *, centred: bool) -> Object:
        """The cosine of each word of a sentence with each of another, layer by layer."""
        for sentence in (first, second):
            self.read_sentence(sentence)  # refuses one that is too long
        mean = self._main.mean() if centred else 0.0
        pair = compare_sentences(self.embedder, first, second, mean=mean)
        return {"first": pair.first, "second": pair.second, "cosines": pair.cosines.round(4).tolist()}

    def tokens(self, sentence: str) -> Object:
        """A sentence as the model reads it."""
        return {"tokens": self.read_sentence(sentence)}

    def find(self, wanted: UsesQuestion) -> Uses:
        """The uses of a word with their vectors."""
        collection = self._collection(wanted.text)
        return self._uses.get(
            wanted,
            lambda: find_uses(collection, wanted.word, most=wanted.most, ignore_case=wanted.ignore_case),
        )

    def read_sentence(self, sentence: str) -> list[str]:
        """The words of a sentence; one that is too long or has none is refused."""
        if len(sentence) > LONGEST_SENTENCE:
            raise InputError(f"the sentence has {len(sentence):,} characters; {LONGEST_SENTENCE:,} are the most")
        words = self.embedder.model.tokenizer.tokenize(sentence).words
        if not words:
            raise InputError("the sentence has no words; type one")
        return words

    def _collection(self, name: str) -> Collection:
        if not name:
            return self._main

        def lost() -> Collection:
            raise UnknownTextError("this page was about a pasted text that is not here any more; paste it again")

        return self._texts.get(name, lost)

    def _read(self, text: str) -> Collection:
        if len(text) > LONGEST_TEXT:
            raise InputError(
                f"the text has {len(text):,} characters; {LONGEST_TEXT:,} are the most. Start with the file: "
                "elmo explore text.txt"
            )
        collection = TextCollection(self.embedder, passages_of_text(text, self.embedder.model.tokenizer))
        if not collection.sentence_count:
            raise InputError("the text has no words; paste some sentences")
        return collection


def _one_of(use: int, uses: Uses) -> int:
    if use >= len(uses):
        raise InputError(f"use is {use}, but there are {len(uses)} uses, counted from 0")
    return use


def _size(collection: Collection) -> Object:
    return {"sentences": collection.sentence_count, "tokens": collection.token_count}


def _layers_of_near(collection: Collection, found: Sequence[Sequence[Neighbor]]) -> Object:
    return {
        "searched": collection.searched_count,
        "sentences": collection.sentence_count,
        "layers": [
            [
                {
                    "tokens": near.tokens,
                    "place": near.place,
                    "similarity": round(near.similarity, 4),
                    "file": near.file,
                    "line": near.line,
                }
                for near in layer
            ]
            for layer in found
        ],
    }


def _interesting(collection: Collection) -> list[str]:
    """Eight words worth a look: long enough to have a meaning, used more than a few times."""
    counts = [pair for pair in collection.words(MOST_WORDS) if pair[1] >= 3]
    long = [word for word, count in counts if count >= 5 and word.islower() and len(word) >= 4]
    return (long or [word for word, _ in counts if any(map(str.isalnum, word))])[:8]
