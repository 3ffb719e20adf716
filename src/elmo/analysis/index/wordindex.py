"""`WordIndex`: an open index. Words and their uses, sentences by number, vectors by layer, exact search.

Everything stays on disk and is mapped: opening takes no time, and threads and processes share one copy.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from elmo.analysis.choices import Words
from elmo.analysis.index.checks import check_tables, read_index_manifest
from elmo.analysis.index.layout import MEAN, TABLES, TOKENS, IndexManifest, LayerName, table_file
from elmo.analysis.index.search import Candidates, search_rows
from elmo.analysis.index.vectors import Floats, StoredLayer, map_table
from elmo.analysis.index.words import IndexedWords
from elmo.analysis.neighbors import Neighbor
from elmo.disk.guarded.plainfiles import file_sha256, shortened
from elmo.embed.embedder import Embedder
from elmo.errors import ConfigError, InputError
from elmo.text.textfiles import PlacedSentence


def open_index(folder: str | os.PathLike[str]) -> "WordIndex":
    """Open the index in a directory; what is missing or does not fit together raises InputError."""
    return WordIndex(Path(folder))


class SearchOptions(TypedDict, total=False):
    """The options of `WordIndex.search_many`, which are those of `search_rows`."""

    layer: int | str | None
    count: int
    words: Words
    asked: Sequence[str | None] | None
    centred: bool
    but_not: Sequence[Sequence[str] | None] | None


class WordIndex:
    """An open index. Make one with `open_index` or `build_index`. It is read only; threads may share it.

    `manifest` says what it was made of, `layers` which it holds by their names ("0", "1", ..., "mean"), `words` are
    its words (a sequence; `find`, `beginning_with`, `most_frequent`). A use of a word is known by its row.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: IndexManifest = read_index_manifest(folder)
        tables: dict[str, npt.NDArray[Any]] = {name: map_table(folder / table_file(name)) for name in TABLES}
        self._layers = {name: StoredLayer.map(folder, name) for name in self.manifest.layers}
        check_tables(folder, self.manifest, tables, self._layers)
        self._tables = tables
        self.words = IndexedWords(folder, tables["words"], tables["word_ends"], tables["word_counts"])

    @property
    def layers(self) -> tuple[LayerName, ...]:
        """The names of the layers that it holds, from the lowest; "mean" last."""
        return tuple(self._layers)

    @property
    def dim(self) -> int:
        """Size of a vector."""
        return self.manifest.dim

    def __len__(self) -> int:
        """How many uses of words it holds."""
        return self.manifest.rows

    def __repr__(self) -> str:
        return f"WordIndex({str(self.folder)!r}, {len(self):,} uses, layers {', '.join(self.layers)})"

    # Which model and which layer

    def check_model(self, embedder: Embedder) -> None:
        """Refuse a model whose vectors are not those that the index holds."""
        made, given = self.manifest.model, embedder.model.sha256
        if made != given:
            raise InputError(
                f"{self.folder}: was made with the model {self.manifest.model_name} ({made[:12]}), but this one is "
                f"{given[:12]}; take that model, or build an index with this one"
            )
        if self.manifest.state != embedder.state:
            raise InputError(
                f"{self.folder}: was made with state {self.manifest.state}, but this embedder has {embedder.state}; "
                "take the same"
            )

    def layer_name(self, layer: int | str | None = None) -> LayerName:
        """The name of a layer that is here: a number (negative: from the top), "top", "mean"; None: the only or topmost
        one. Others are refused.
        """
        count = self.manifest.model_layers
        if layer is None:
            numbered = [name for name in self.layers if name != MEAN]
            return numbered[-1] if numbered else MEAN
        wanted = str(layer)
        if wanted == "top":
            wanted = str(count - 1)
        elif wanted != MEAN:
            number = int(wanted) if wanted.lstrip("-").isdecimal() and len(wanted) < 10 else count
            if not -count <= number < count:
                raise ConfigError(
                    f"layer is {layer!r}; it must be 'top', 'mean' or a number from 0 to {count - 1} (-1: the top)"
                )
            wanted = str(number % count)
        if wanted not in self._layers:
            held = ", ".join(self.layers)
            raise InputError(
                f"{self.folder}: has no layer {wanted} (it has {held}); build another with --layers {wanted}"
            )
        return wanted

    def mean(self, layer: int | str | None = None) -> Floats:
        """The mean of the unit vectors of a layer over all tokens of the text [D]: what centring takes away."""
        return np.array(self._layers[self.layer_name(layer)].mean)

    # Words, their uses, sentences

    def count(self, word: str, *, ignore_case: bool = False) -> int:
        """How often a word occurs in the sentences of the index."""
        numbers = self.words.find(word, ignore_case=ignore_case)
        return int(self._tables["word_counts"][numbers.start : numbers.stop].sum())

    def uses(self, word: str, *, ignore_case: bool = False) -> "WordUses":
        """All uses of a word that the index holds, of each spelling in the order of the text; none: an empty one."""
        return WordUses(self, np.arange(*self._rows_of(word, ignore_case=ignore_case)))

    def use_at(self, row: int) -> tuple[int, int]:
        """The sentence of a row, by its number, and the place of the token in it."""
        if not 0 <= row < len(self):
            raise InputError(f"row {row} is not in the index, which has {len(self):,}")
        return int(self._tables["row_sentences"][row]), int(self._tables["row_places"][row])

    def sentence(self, number: int) -> PlacedSentence:
        """A sentence by its number: its file, its line (from 1) and its words."""
        starts, tables = self._tables["sentence_starts"], self._tables
        if not 0 <= number < len(starts) - 1:
            raise InputError(f"{self.folder}: has no sentence {number}; it has {len(starts) - 1:,}")
        words = [self._word(n) for n in tables["tokens"][starts[number] : starts[number + 1]].tolist()]
        file = int(tables["sentence_files"][number])
        if not 0 <= file < len(self.manifest.files):
            raise self._damaged("sentence_files")
        return PlacedSentence(self.manifest.files[file], int(tables["sentence_lines"][number]), words)

    def neighbor(self, row: int, similarity: float = 1.0) -> Neighbor:
        """The use of a row as a search gives it: sentence, place, file and line."""
        number, place = self.use_at(row)
        sentence = self.sentence(number)
        if not 0 <= place < len(sentence.words):
            raise self._damaged("row_places")
        return Neighbor(similarity, sentence.words, place, sentence.file, sentence.line)

    def vectors(self, rows: npt.NDArray[np.integer[Any]] | Sequence[int], layer: int | str | None = None) -> Floats:
        """The vectors of some rows in one layer, each of length 1: float32 [n, D]."""
        name = self.layer_name(layer)
        wanted = np.asarray(rows, dtype=np.int64)
        if len(wanted) and not 0 <= int(wanted.min()) <= int(wanted.max()) < len(self):
            raise InputError(
                f"rows {int(wanted.min())} to {int(wanted.max())} are not all in the index ({len(self):,})"
            )
        stored = self._layers[name]
        if name == TOKENS:
            wanted = np.searchsorted(self._tables["word_starts"], wanted, side="right") - 1
        if len(wanted) and int(wanted[-1]) - int(wanted[0]) + 1 == len(wanted) and (np.diff(wanted) == 1).all():
            return stored.vectors(slice(int(wanted[0]), int(wanted[-1]) + 1))
        return stored.vectors(wanted)

    # Search

    def search(
        self,
        vector: npt.NDArray[np.floating[Any]],
        *,
        layer: int | str | None = None,
        count: int = 5,
        words: Words = "all",
        word: str | None = None,
        centred: bool = False,
        but_not: Sequence[str] | None = None,
    ) -> list[Neighbor]:
        """The uses whose vectors are nearest to `vector` [D] (by cosine, exactly), at most one of a sentence.

        `words`: among "all" words, only the uses of the "same" word as `word`, or only those of "other" words (upper
        and lower case are the same here). `centred`: cosines as seen from the mean vector, which spreads them out.
        `but_not`: a sentence, as tokens, that is passed over: the one that is asked about.
        """
        return self.search_many(
            np.asarray(vector)[None], layer=layer, count=count, words=words, asked=[word], centred=centred,
            but_not=[but_not],
        )[0]  # fmt: skip

    def search_many(
        self, vectors: npt.NDArray[np.floating[Any]], **options: Unpack[SearchOptions]
    ) -> list[list[Neighbor]]:
        """The same for Q vectors [Q, D] in one pass; `asked` (their words) and `but_not` have an entry for each."""
        found = self.search_rows(vectors, **options)
        return [[self.neighbor(row, similarity) for similarity, row in one] for one in found]

    def search_rows(
        self,
        vectors: npt.NDArray[np.floating[Any]],
        *,
        layer: int | str | None = None,
        count: int = 5,
        words: Words = "all",
        asked: Sequence[str | None] | None = None,
        centred: bool = False,
        but_not: Sequence[Sequence[str] | None] | None = None,
    ) -> list[list[tuple[float, int]]]:
        """The same as pairs of similarity and row, best first."""
        name = self.layer_name(layer)
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            raise InputError(f"vectors are of shape {list(vectors.shape)}; [Q, {self.dim}] is wanted")
        if count < 1:
            raise ConfigError(f"count is {count}; it must be at least 1")
        if words not in ("all", "same", "other"):
            raise ConfigError(f"words is {words!r}; it must be 'all', 'same' or 'other'")
        if not np.isfinite(vectors).all():
            raise InputError("a vector to search for has numbers that are not finite")
        best = []
        for number in range(len(vectors)):
            own = (0, 0)
            if words != "all":
                word = None if asked is None else asked[number]
                if word is None:
                    raise ConfigError(f"words is {words!r}, but the word is not given; add word=")
                own = self._rows_of(word, ignore_case=True)
            ranges = [own] if words == "same" else [(0, own[0]), (own[1], len(self))]
            passed = None if but_not is None else but_not[number]
            best.append(Candidates(ranges, count, None if passed is None else list(passed)))
        search_rows(self, self._layers[name], vectors, best, centred=centred)
        return [candidates.found() for candidates in best]

    def verify(self) -> None:
        """Compare every file with the hash recorded for it; InputError names the first that differs."""
        for name, expected in self.manifest.hashes.items():
            found = file_sha256(self.folder / name)
            if found != expected:
                raise InputError(
                    f"{self.folder / name}: sha256 is {found}, but the manifest says {shortened(expected)}; the file "
                    "was changed or damaged: build the index again"
                )

    @property
    def row_sentences(self) -> npt.NDArray[np.int32]:
        """The sentence of each row: [N]."""
        return self._tables["row_sentences"]

    @property
    def row_places(self) -> npt.NDArray[np.int32]:
        """The place of each row in its sentence: [N]."""
        return self._tables["row_places"]

    @property
    def word_starts(self) -> npt.NDArray[np.int64]:
        """The first row of each word, and the number of rows: [V + 1]."""
        return self._tables["word_starts"]

    def _rows_of(self, word: str, *, ignore_case: bool) -> tuple[int, int]:
        numbers = self.words.find(word, ignore_case=ignore_case)
        starts = self._tables["word_starts"]
        return int(starts[numbers.start]), int(starts[numbers.stop])

    def _word(self, number: int) -> str:
        if not 0 <= number < len(self.words):
            raise self._damaged("tokens")
        return self.words[number]

    def _damaged(self, table: str) -> InputError:
        path = self.folder / table_file(table)
        return InputError(f"{path}: has a number that nothing belongs to; it is damaged: build the index again")


@dataclass(frozen=True, eq=False)
class WordUses:
    """Some uses of words in an index, by their rows [N]; `uses[10:20]` are fewer of them."""

    index: WordIndex
    rows: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: slice | npt.NDArray[Any]) -> "WordUses":
        return WordUses(self.index, self.rows[part])

    def spread(self, most: int) -> "WordUses":
        """At most so many of them, evenly spread over all."""
        if len(self) <= most:
            return self
        return self[np.linspace(0, len(self) - 1, most).astype(np.int64)]

    @property
    def sentences(self) -> npt.NDArray[np.int32]:
        """The sentence of each, by its number: [N]."""
        return np.asarray(self.index.row_sentences[self.rows])

    @property
    def places(self) -> npt.NDArray[np.int32]:
        """The number of the token in its sentence, from 0: [N]."""
        return np.asarray(self.index.row_places[self.rows])

    def vectors(self, layer: int | str | None = None) -> Floats:
        """Their vectors in one layer, each of length 1: float32 [N, D]."""
        return self.index.vectors(self.rows, layer)

    def neighbors(self) -> list[Neighbor]:
        """Each with its sentence, place, file and line; all of similarity 1."""
        return [self.index.neighbor(row) for row in self.rows.tolist()]
