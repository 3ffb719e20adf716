"""Building a store: equal to the slow reference, the same bytes for any workers, blocks and memory, from any input."""

import gzip
import io
import json
import logging
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.corpus.reference import file_contents, make_text, reference_arrays, stored_arrays

from elmo.corpus import CorpusStore, Moment, build_corpus
from elmo.errors import ConfigError, InputError, ResumeError, VocabularyError
from elmo.text.tokenizer import Tokenizer
from elmo.text.vocabulary import Vocabulary

RAW = (
    "Dr. Lind can't come today. She sends her regards (and a cake).\n"
    "\n"
    'The harbour was quiet; nobody asked "why?" before noon. It cost $5.50 in all.\n'
    "A line without an end mark\n"
    "   \n"
    "Two ships came in at 5 p.m. on Monday. They left on Tuesday!\n"
)


def quiet(progress: Moment) -> None:
    pass


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


@pytest.mark.parametrize("documents", ["files", "lines", "blank-lines"])
@pytest.mark.parametrize("block_bytes", [1, 200, 1 << 20])
def test_a_tokenized_text_becomes_what_the_reference_says(tmp_path: Path, documents, block_bytes) -> None:
    texts = [make_text(150, seed=1), make_text(40, seed=2)]
    files = [write(tmp_path / f"{i}.txt", text) for i, text in enumerate(texts)]
    store = build_corpus(
        files,
        tmp_path / "store",
        tokenized=True,
        documents=documents,
        min_count=2,
        heldout=0.2,
        seed=7,
        workers=1,
        block_bytes=block_bytes,
        progress=quiet,
    )
    expected = reference_arrays(
        [(text, False) for text in texts], documents=documents, min_count=2, heldout=0.2, seed=7
    )
    assert stored_arrays(store) == expected
    assert store.counts["heldout"].words > 0
    assert store.counts["train"].documents > 1


@pytest.mark.parametrize("rule", ["treebank", "unicode", "whitespace"])
def test_a_raw_text_is_split_and_tokenized_line_by_line(tmp_path: Path, rule) -> None:
    store = build_corpus([write(tmp_path / "raw.txt", RAW)], tmp_path / "store", tokenizer=rule, min_count=1, heldout=0)
    assert stored_arrays(store) == reference_arrays([(RAW, False)], tokenizer=Tokenizer(rule), min_count=1)
    assert store.tokenizer == Tokenizer(rule)
    assert store.counts["train"].sentences == 7


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(alphabet=st.sampled_from("ab .\n\t\u00a0\u2028\x85ñ漢𝄞\x00<>/SUNK"), max_size=60),
    documents=st.sampled_from(["files", "lines", "blank-lines"]),
    block_bytes=st.integers(1, 20),
)
def test_any_text_becomes_what_the_reference_says(tmp_path_factory, text, documents, block_bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    text = f"a word\n{text}"
    options = {"documents": documents, "min_count": 1, "heldout": 0.3}
    store = build_corpus(
        [write(folder / "text", text)], folder / "store", tokenized=True, workers=1, block_bytes=block_bytes, **options
    )
    assert stored_arrays(store) == reference_arrays([(text, False)], **options)


def test_a_blank_line_at_the_end_of_a_block_divides_documents(tmp_path: Path) -> None:
    text = "a word\n\nand\nmore words\n"
    options = {"documents": "blank-lines", "min_count": 1, "heldout": 0.3}
    for block_bytes in (8, 1 << 20):  # the first block is "a word" and the blank line
        folder = tmp_path / f"{block_bytes}"
        folder.mkdir()
        store = build_corpus(
            [write(folder / "text", text)],
            folder / "store",
            tokenized=True,
            workers=1,
            block_bytes=block_bytes,
            **options,
        )
        assert stored_arrays(store) == reference_arrays([(text, False)], **options)


def test_workers_blocks_and_memory_leave_no_trace(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{i}.txt", make_text(300, seed=i)) for i in range(3)]
    settings = [
        {"workers": 1, "block_bytes": 1 << 20},
        {"workers": 4, "block_bytes": 1000},
        {"workers": 1, "block_bytes": 8000, "memory_limit": 1},
        {"workers": 2, "block_bytes": 700, "memory_limit": 200_000},
    ]
    contents = []
    for i, setting in enumerate(settings):
        build_corpus(files, tmp_path / f"store{i}", tokenized=True, heldout=0.1, min_count=2, progress=quiet, **setting)
        contents.append(file_contents(tmp_path / f"store{i}"))
    assert len(contents[0]) == 12
    assert all(content == contents[0] for content in contents[1:])
    assert not list(tmp_path.glob("*.building"))


def test_raw_text_is_the_same_for_one_and_four_workers(tmp_path: Path) -> None:
    file = write(tmp_path / "raw.txt", RAW * 20)
    for workers in (1, 4):
        build_corpus([file], tmp_path / str(workers), workers=workers, block_bytes=500, progress=quiet)
    assert file_contents(tmp_path / "1") == file_contents(tmp_path / "4")


def test_the_seed_chooses_the_held_out_text(tmp_path: Path) -> None:
    file = write(tmp_path / "text", make_text(400))
    stores = [
        build_corpus([file], tmp_path / f"store{i}", tokenized=True, documents="lines", seed=seed)
        for i, seed in enumerate((1, 1, 2))
    ]
    first, same, other = [stored_arrays(store)["heldout_sentences"] for store in stores]
    assert first == same
    assert first != other


def test_compressed_files_pipes_and_directories_give_the_same_tokens(tmp_path: Path, monkeypatch) -> None:
    text = make_text(60).encode("utf-8")
    (tmp_path / "many" / "inner").mkdir(parents=True)
    (tmp_path / "many" / "inner" / "plain.txt").write_bytes(text)
    (tmp_path / "many" / "inner" / ".hidden").write_bytes(b"\xff")
    (tmp_path / "text.gz").write_bytes(gzip.compress(text))
    (tmp_path / "text.xz").write_bytes(lzma.compress(text))
    (tmp_path / "text.zst").write_bytes(zstandard.compress(text))
    (tmp_path / "dos.txt").write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    inputs = [
        tmp_path / "many",
        tmp_path / "text.gz",
        tmp_path / "text.xz",
        tmp_path / "text.zst",
        tmp_path / "dos.txt",
        "-",
    ]
    stores = [
        build_corpus([given], tmp_path / f"store{i}", tokenized=True, min_count=1, progress=quiet)
        for i, given in enumerate(inputs)
    ]
    first = stored_arrays(stores[0])
    assert all(stored_arrays(store) == first for store in stores[1:])
    digests = {store.manifest["sources"][0]["text_sha256"] for store in stores}
    assert len(digests) == 1


def test_the_manifest_describes_the_store(tmp_path: Path) -> None:
    long_word = "x" * 60
    text = f"a b a c\n{long_word} a b\n" * 30
    held = f"a d\n{long_word[:59]}y\n"
    store = build_corpus(
        [write(tmp_path / "train", text)],
        tmp_path / "store",
        tokenized=True,
        vocabulary_size=5,
        heldout=[write(tmp_path / "held", held)],
        seed=3,
    )
    manifest = json.loads((tmp_path / "store" / "corpus.json").read_text(encoding="utf-8"))
    assert manifest == store.manifest
    assert manifest["counts"] == {
        "train": {"tokens": 210, "sentences": 60, "documents": 1, "types": 4},
        "heldout": {"tokens": 3, "sentences": 2, "documents": 1, "types": 3},
    }
    assert manifest["types"] == store.types == 7
    assert manifest["vocabulary_size"] == 5
    assert manifest["seed"] == 3
    assert manifest["coverage"] == {
        "train": {"unknown_tokens": 60, "unknown_rate": round(60 / 210, 6)},
        "heldout": {"unknown_tokens": 2, "unknown_rate": round(2 / 3, 6)},
        "longer_than_48_bytes": {"types": 2, "training_tokens": 30},
    }
    assert manifest["sources"][1]["heldout"] is True
    assert manifest["sources"][0]["size"] == len(text)
    assert set(manifest["hashes"]) == {path.name for path in (tmp_path / "store").iterdir()} - {"corpus.json"}


def test_words_alike_in_their_first_48_bytes_are_distinct_types(tmp_path: Path) -> None:
    words = ["x" * 48, "x" * 49, "x" * 50]
    store = build_corpus(
        [write(tmp_path / "text", " ".join(words) + "\n")], tmp_path / "store", tokenized=True, min_count=1
    )
    assert store.types == 4
    assert store.type_lengths.tolist() == [0, 48, 48, 48]
    assert store.vocabulary.words[3:] == tuple(words)
    assert store.type_targets.tolist() == [1, 3, 4, 5]


def test_files_named_as_held_out_are_held_out_whole(tmp_path: Path) -> None:
    texts = {name: make_text(30, seed=i) for i, name in enumerate("abc")}
    files = {name: write(tmp_path / name, text) for name, text in texts.items()}
    store = build_corpus(
        [files["a"], files["b"]], tmp_path / "store", tokenized=True, heldout=[files["a"], files["c"]], min_count=1
    )
    expected = reference_arrays([(texts["a"], True), (texts["b"], False), (texts["c"], True)], min_count=1)
    assert stored_arrays(store) == expected
    assert [source["heldout"] for source in store.manifest["sources"]] == [True, False, True]


@pytest.mark.parametrize("documents", ["files", "lines", "blank-lines"])
def test_many_small_files_are_held_out_whole(tmp_path: Path, documents) -> None:
    (tmp_path / "texts").mkdir()
    texts = [make_text(1 + i % 7, seed=i, blank=0.5) for i in range(200)]
    for i, text in enumerate(texts):
        write(tmp_path / "texts" / f"{i:03d}", text)
    store = build_corpus(
        tmp_path / "texts",
        tmp_path / "store",
        tokenized=True,
        documents=documents,
        heldout=0.1,
        min_count=1,
        block_bytes=3000,
        workers=1,
        progress=quiet,
    )
    expected = reference_arrays([(text, False) for text in texts], documents=documents, heldout=0.1, min_count=1)
    assert stored_arrays(store) == expected
    if documents == "files":
        assert sum(counts.documents for counts in store.counts.values()) == pytest.approx(200, abs=20)
        assert store.counts["heldout"].documents > 5


def test_nothing_is_held_out_on_request(tmp_path: Path) -> None:
    store = build_corpus([write(tmp_path / "text", make_text(100))], tmp_path / "store", tokenized=True, heldout=0)
    assert store.counts["heldout"] == (0, 0, 0)
    assert store.sentences("heldout").tolist() == [0]
    assert store.documents("heldout").tolist() == [0]


def test_a_given_vocabulary_is_used_as_it_is(tmp_path: Path, caplog) -> None:
    words = ("<S>", "</S>", "<UNK>", "a", "unheard", "b")
    Vocabulary(words).write(tmp_path / "vocab.txt")
    file = write(tmp_path / "text", "b b c a\n" * 3)
    store = build_corpus([file], tmp_path / "store", tokenized=True, vocabulary=tmp_path / "vocab.txt", heldout=0)
    assert store.vocabulary.words == words
    assert [store.spelling(i) for i in range(4)] == ["", "b", "a", "c"]
    assert store.type_targets.tolist() == [1, 5, 3, 2]
    assert not caplog.records


def test_a_given_vocabulary_in_the_wrong_order_is_reported(tmp_path: Path, caplog) -> None:
    words = [f"w{i}" for i in range(20)]
    file = write(tmp_path / "text", "".join(" ".join(words[i:]) + "\n" for i in range(20)))
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", *words))
    build_corpus([file], tmp_path / "store", tokenized=True, vocabulary=vocabulary, heldout=0)
    assert "not sorted by descending frequency" in caplog.text


def test_a_vocabulary_of_other_words_is_refused(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("<S>", "</S>", "<UNK>", "zebra"))
    with pytest.raises(VocabularyError, match="no word of the given vocabulary"):
        build_corpus(
            [write(tmp_path / "text", "a b\nc d\n")], tmp_path / "store", tokenized=True, vocabulary=vocabulary
        )
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "limits", [{"vocabulary_size": 20}, {"min_count": 3}, {"coverage": 0.7}, {"coverage": 1.0}, {}], ids=str
)
def test_the_vocabulary_is_the_one_that_the_text_layer_builds(tmp_path: Path, limits) -> None:
    text = make_text(200)
    store = build_corpus([write(tmp_path / "text", text)], tmp_path / "store", tokenized=True, heldout=0, **limits)
    reference = {"min_count": 3} if not limits else {name.removeprefix("vocabulary_"): v for name, v in limits.items()}
    assert list(store.vocabulary.words) == reference_arrays([(text, False)], **reference)["vocabulary"]


def test_all_limits_that_are_given_hold(tmp_path: Path) -> None:
    file = write(tmp_path / "text", "a a a a b b b c c d\n" * 2)
    sizes = []
    for i, limits in enumerate(
        [{"min_count": 4}, {"min_count": 4, "vocabulary_size": 5}, {"min_count": 4, "coverage": 0.1}]
    ):
        store = build_corpus([file], tmp_path / f"store{i}", tokenized=True, heldout=0, **limits)
        sizes.append(len(store.vocabulary))
    assert sizes == [6, 5, 4]


def test_special_words_in_the_text_are_unknown_and_reported(tmp_path: Path, caplog) -> None:
    file = write(tmp_path / "text", "<S> a <UNK> </S>\n!!!MAXTERMID b a\n" * 3)
    store = build_corpus([file], tmp_path / "store", tokenized=True, heldout=0)
    assert store.vocabulary.words[3:] == ("a", "b")
    targets = {store.spelling(i): int(store.type_targets[i]) for i in range(1, store.types)}
    assert targets == {"a": 3, "b": 4, "<S>": 2, "</S>": 2, "<UNK>": 2, "!!!MAXTERMID": 2}
    assert "the word </S> (3 times in the training split)" in caplog.text


def test_an_empty_file_inside_a_directory_is_left_out_with_a_warning(tmp_path: Path, caplog) -> None:
    (tmp_path / "texts").mkdir()
    write(tmp_path / "texts" / "a", "")
    write(tmp_path / "texts" / "b", "one word\nor two\n")
    with caplog.at_level(logging.WARNING):
        store = build_corpus([tmp_path / "texts"], tmp_path / "store", tokenized=True, min_count=1, heldout=0)
    assert store.counts["train"] == (4, 2, 1)
    assert f"{tmp_path / 'texts' / 'a'}: no sentence" in caplog.text


def test_progress_is_told_for_each_stage(tmp_path: Path) -> None:
    seen: list[Moment] = []
    file = write(tmp_path / "text", make_text(300))
    store = build_corpus([file], tmp_path / "store", tokenized=True, block_bytes=2000, workers=1, progress=seen.append)
    words = sum(counts.words for counts in store.counts.values())
    for stage in ("reading", "merging", "writing"):
        moments = [progress for progress in seen if progress.stage == stage]
        assert len(moments) > 3
        assert [m.fraction for m in moments] == sorted(m.fraction for m in moments)
        assert moments[-1].fraction == pytest.approx(1, abs=0.01)
        assert moments[-1].words == words
        assert moments[-1].words_per_second > 0
        assert moments[-1].seconds_left == pytest.approx(0, abs=0.1)
    assert [p.words for p in seen if p.stage == "ordering"] == [store.types - 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"documents": "chapters"}, "documents is 'chapters'"),
        ({"heldout": 0.9}, "heldout is 0.9"),
        ({"heldout_max_tokens": 0}, "heldout_max_tokens is 0"),
        ({"vocabulary_size": 3}, "vocabulary_size is 3"),
        ({"min_count": 0}, "min_count is 0"),
        ({"coverage": 1.5}, "coverage is 1.5"),
        ({"seed": -1}, "seed is -1"),
        ({"workers": 0}, "workers is 0"),
        ({"tokenizer": "chinese"}, "tokenizer rule is 'chinese'"),
        ({"block_bytes": 0}, "block_bytes is 0"),
        ({"memory_limit": 0}, "memory_limit is 0"),
        ({"vocabulary": Vocabulary(("<S>", "</S>", "<UNK>", "a")), "min_count": 2}, "given vocabulary"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_option_out_of_range_is_named(tmp_path: Path, options, message) -> None:
    with pytest.raises(ConfigError, match=message):
        build_corpus([write(tmp_path / "text", "a b\n")], tmp_path / "store", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_no_word_frequent_enough_is_an_error_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=r"no word occurs 3 times .* smaller min_count"):
        build_corpus([write(tmp_path / "text", "a b\nc d\n")], tmp_path / "store", tokenized=True)


def test_a_store_is_never_overwritten(tmp_path: Path) -> None:
    file = write(tmp_path / "text", make_text(50))
    build_corpus([file], tmp_path / "store", tokenized=True, seed=1)
    before = file_contents(tmp_path / "store")
    with pytest.raises(ConfigError, match="holds a corpus already"):
        build_corpus([file], tmp_path / "store", tokenized=True, seed=1)
    with pytest.raises(ResumeError, match="seed was 1 and is 2 now"):
        build_corpus([file], tmp_path / "store", tokenized=True, seed=2, resume=True)
    again = build_corpus([file], tmp_path / "store", tokenized=True, seed=1, resume=True)
    assert isinstance(again, CorpusStore)
    assert file_contents(tmp_path / "store") == before


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    build_corpus([write(tmp_path / "text", make_text(50))], tmp_path / "store", tokenized=True)
    (tmp_path / "other").mkdir()
    write(tmp_path / "other" / "thesis.tex", "")
    with pytest.raises(ConfigError, match="holds no corpus"):
        build_corpus([tmp_path / "text"], tmp_path / "other", tokenized=True)
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["thesis.tex"]


def test_a_script_needs_no_main_guard_and_no_torch(tmp_path: Path) -> None:
    write(tmp_path / "text", make_text(300))
    script = write(
        tmp_path / "script.py",
        "import sys\n"
        "from elmo.corpus import build_corpus\n"
        "build_corpus(['text'], 'store', tokenized=True, workers=2, block_bytes=2000)\n"
        "sys.exit('torch' in sys.modules)\n",
    )
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", "")
    CorpusStore.open(tmp_path / "store").verify()


def test_a_file_twice_among_the_inputs_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "text", "a b\n")
    with pytest.raises(ConfigError, match="twice"):
        build_corpus([file, tmp_path], tmp_path / "store")


def test_a_single_path_is_as_good_as_a_list(tmp_path: Path) -> None:
    train, held = write(tmp_path / "train", "a a a\n"), write(tmp_path / "held", "b\n")
    store = build_corpus(str(train), tmp_path / "store", heldout=held)
    assert [counts.words for counts in store.counts.values()] == [3, 1]


def test_everything_held_out_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "text", "a b\n")
    with pytest.raises(InputError, match="every sentence is held out"):
        build_corpus([file], tmp_path / "store", heldout=[file])


def test_numbers_of_more_than_65535_types_in_a_block_fit(tmp_path: Path) -> None:
    text = "\n".join(" ".join(f"w{i}" for i in range(line * 100, line * 100 + 100)) for line in range(700))
    store = build_corpus([write(tmp_path / "text", text)], tmp_path / "store", tokenized=True, min_count=1, heldout=0)
    assert store.types == 70_001
    assert np.bincount(store.symbols("train")).tolist() == [700, *[1] * 70_000]
