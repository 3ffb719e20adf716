"""`encode`: shapes, order, independence of batch and history, odd inputs, errors."""

import logging
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tiny import make_bilm
from torch.utils.data import DataLoader

import elmo.embed.embedder as embedder_module
import elmo.embed.precision as precision_module
from elmo.embed import runners
from elmo.embed.batchembedder import BatchEmbedder
from elmo.embed.choices import Precision
from elmo.embed.embedder import Embedder
from elmo.embed.loading import load
from elmo.embed.module import Elmo
from elmo.embed.wordcache import WordCache
from elmo.errors import ConfigError, InputError, WeightsError
from elmo.model.choices import StateMode
from elmo.ops.cpu import bfloat16
from elmo.ops.cpu.kernels import kernels_multiply_bfloat16, kernels_run
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.published import packaged

SENTENCES = [
    ["I", "sat", "on", "the", "river", "bank", "."],
    ["The", "bank", "approved", "my", "loan", "."],
    [],
    ["naïve", "漢字", "😀", "x" * 100, ""],
    ["Yes"],
]
token = st.text(max_size=6)
sentences_of_tokens = st.lists(st.lists(token, max_size=9), max_size=9)
quick = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("layers", "shape"), [("mean", (7, 16)), ("top", (7, 16)), (0, (7, 16)), ("all", (3, 7, 16))])
def test_each_token_has_its_row(embedder: Embedder, layers: object, shape: tuple[int, ...]) -> None:
    vectors = embedder.encode(SENTENCES, layers=layers)
    assert [v.shape[-2] for v in vectors] == [7, 6, 0, 5, 1]
    assert vectors[0].shape == shape
    assert vectors[0].dtype == np.float32


def test_an_embedder_of_another_precision_leaves_the_model_as_it_is(model_directory: Path) -> None:
    model = read_model(model_directory)
    single = Embedder(model, device="cpu")
    before = single.encode(SENTENCES)
    assert Embedder(model, device="cpu", precision="float64").precision == "float64"
    assert {(p.dtype, p.requires_grad) for p in model.bilm.parameters()} == {(torch.float32, True)}
    for embedder in (single, Embedder(model, device="cpu")):
        assert all(np.array_equal(a, b) for a, b in zip(embedder.encode(SENTENCES), before, strict=True))


def test_choices_of_layers_agree_with_each_other(embedder: Embedder) -> None:
    every = embedder.encode(SENTENCES, layers="all")
    for n, layers in enumerate(every):
        close(embedder.encode(SENTENCES)[n], layers.mean(0))
        close(embedder.encode(SENTENCES, layers="top")[n], layers[2])
        for k in range(3):
            close(embedder.encode(SENTENCES, layers=k)[n], layers[k])
            close(embedder.encode(SENTENCES, layers=k - 3)[n], layers[k])


def test_layer_0_is_the_word_twice(embedder: Embedder) -> None:
    first, second = embedder.encode(SENTENCES[:2], layers=0)
    close(first[:, :8], first[:, 8:])
    close(first[5], second[1])


def test_raw_text_is_tokenized_by_the_models_rule(embedder: Embedder) -> None:
    vectors, tokens = embedder.encode("I don't know.", return_tokens=True)
    assert tokens.words == ["I", "do", "n't", "know", "."]
    assert tokens.offsets == [(0, 1), (2, 4), (4, 7), (8, 12), (12, 13)]
    close(vectors, embedder.encode([tokens.words])[0])


def test_a_text_is_embedded_sentence_by_sentence(embedder: Embedder) -> None:
    text = "I sat down. The bank approved it. Good!"
    vectors, tokens = embedder.encode([text], return_tokens=True)
    parts = embedder.encode(["I sat down.", "The bank approved it.", "Good!"])
    close(vectors[0], np.concatenate(parts))
    assert [text[a:b] for a, b in tokens[0].offsets] == tokens[0].words
    assert tokens[0].sentence_starts == [0, 4, 9]
    for part, found in zip(parts, np.split(vectors[0], tokens[0].sentence_starts[1:]), strict=True):
        close(found, part)


def test_a_text_can_be_taken_for_one_sentence(embedder: Embedder) -> None:
    text = "I sat down. Good!"
    vectors, tokens = embedder.encode(text, split_sentences=False, return_tokens=True)
    assert tokens.words == ["I", "sat", "down.", "Good", "!"]
    assert tokens.sentence_starts == [0]
    close(vectors, embedder.encode([tokens.words])[0])


def test_token_lists_are_one_sentence_each_whatever_they_hold(embedder: Embedder) -> None:
    sentence = ["I", "sat", ".", "Good", "."]
    close(embedder.encode([sentence])[0], embedder.encode([sentence], split_sentences=False)[0])


def test_a_curly_apostrophe_does_not_change_a_vector(embedder: Embedder) -> None:
    straight, curly = embedder.encode(["The bank's clerk didn't sit.", "The bank’s clerk didn’t sit."])
    np.testing.assert_array_equal(straight, curly)


@quick
@given(sentences_of_tokens, st.integers(1, 9), st.randoms(use_true_random=False), st.sampled_from(["settled", "zero"]))
def test_order_batch_and_repetition_do_not_matter(
    model_directory: Path, sentences: list[list[str]], batch_size: int, random: object, state: str
) -> None:
    embedder = load(model_directory, device="cpu", state=state)
    vectors = embedder.encode(sentences, layers="all")
    again = embedder.encode(sentences, layers="all", batch_size=batch_size)
    order = list(range(len(sentences)))
    random.shuffle(order)
    shuffled = embedder.encode([sentences[n] for n in order], layers="all", batch_size=batch_size)
    for place, n in enumerate(order):
        assert vectors[n].shape == (3, len(sentences[n]), 16)
        assert np.isfinite(vectors[n]).all()
        close(vectors[n], again[n])
        close(vectors[n], shuffled[place])
        close(vectors[n], embedder.encode([sentences[n]], layers="all")[0])


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "a\ud800b \udfff", "\u2028", "\N{ZERO WIDTH JOINER}" * 99])
def test_any_text_has_vectors(embedder: Embedder, text: str) -> None:
    vectors, tokens = embedder.encode(text, return_tokens=True)
    assert vectors.shape == (len(tokens), 16)
    assert embedder.encode([[text]])[0].shape == (1, 16)


def test_a_word_of_a_million_characters_is_cut_with_a_warning(
    model_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = load(model_directory, device="cpu")
    with caplog.at_level(logging.WARNING):
        long, short = embedder.encode([["x" * 10**6], ["x" * 48]])
    close(long, short)
    assert "1 distinct word longer than the model reads" in caplog.text


def test_a_cut_word_cannot_steer_the_terminal_that_shows_it(
    model_directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        load(model_directory, device="cpu").encode([["\x1b[2J\u202e\n" * 30]])
    assert r"'\x1b[2J\u202e\n\x1b[2J\u202e\n" in caplog.text
    assert not {"\x1b", "\u202e"} & set(caplog.text)


def test_a_sentence_of_50000_tokens_goes_through_in_windows(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"w{n % 97}" for n in range(50_000)]
    long = embedder.encode([words], layers="all")[0]
    assert long.shape == (3, 50_000, 16)
    close(embedder.encode([words], layers="mean")[0], long.mean(0))
    monkeypatch.setattr(embedder_module, "MOST_POSITIONS", 10**6)
    close(long, embedder.encode([words], layers="all")[0])


@pytest.mark.parametrize("length", [1, 2, 5, 6, 7, 12, 13])
@pytest.mark.parametrize("state", ["settled", "zero", "carry"])
def test_windows_of_any_fit_give_the_same_vectors(
    model_directory: Path, monkeypatch: pytest.MonkeyPatch, length: int, state: str
) -> None:
    sentences = [[f"w{n}" for n in range(length)], ["short", "one"], [f"v{n}" for n in range(length)]]
    embedder = load(model_directory, device="cpu", state=state)
    whole = embedder.encode(sentences, layers="all", batch_size=1)
    monkeypatch.setattr(embedder_module, "MOST_POSITIONS", 7)
    for a, b in zip(whole, embedder.encode(sentences, layers="all", batch_size=1), strict=True):
        close(a, b)


def test_carry_goes_on_from_batch_to_batch_and_starts_anew_with_each_call(model_directory: Path) -> None:
    embedder = load(model_directory, device="cpu", state="carry")
    bilm = embedder.bilm
    sentences = [["a", "b"], ["c"], ["d", "e", "f"], ["g"]]
    vectors = embedder.encode(sentences, layers="all", batch_size=2)
    state = bilm.zero_state(2)
    boundaries = bilm.tokens(torch.from_numpy(embedder.model.boundary_rows()))
    for batch in (0, 2):
        for row in (0, 1):
            words = sentences[batch + row]
            x = torch.cat([boundaries[:1], bilm.tokens(torch.from_numpy(embedder.model.spell(words))), boundaries[1:]])
            rows = torch.tensor([row])
            layers, after = bilm(x[None], torch.tensor([len(x)]), state.rows(rows))
            state.h[:, :, rows], state.c[:, :, rows] = after
            close(vectors[batch + row], layers[:, 0, 1:-1].numpy())
    again = embedder.encode(sentences, layers="all", batch_size=2)
    close(again[0], vectors[0])
    assert not np.allclose(embedder.encode([sentences[2]], layers="top")[0], vectors[2][2], atol=1e-4)


def test_pooling_is_over_the_tokens_of_each_sentence(embedder: Embedder) -> None:
    vectors = embedder.encode(SENTENCES)
    mean, largest = embedder.encode(SENTENCES, pooling="mean"), embedder.encode(SENTENCES, pooling="max")
    assert mean.shape == largest.shape == (5, 16)
    for n in (0, 1, 3, 4):
        close(mean[n], vectors[n].mean(0))
        close(largest[n], vectors[n].max(0))
    assert not mean[2].any()
    assert embedder.encode(SENTENCES, pooling="mean", layers="all").shape == (5, 3, 16)
    assert embedder.encode([], pooling="mean", layers="all").shape == (0, 3, 16)
    assert embedder.encode("one text", pooling="mean").shape == (16,)


def test_normalized_vectors_have_length_1(embedder: Embedder) -> None:
    for vectors in embedder.encode([SENTENCES[0], SENTENCES[1]], normalize=True):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-1), 1, atol=1e-5)


def test_tensors_come_back_on_request(embedder: Embedder) -> None:
    tensors = embedder.encode(SENTENCES, convert_to_numpy=False)
    assert all(isinstance(t, torch.Tensor) for t in tensors)


def test_nothing_gives_nothing(embedder: Embedder) -> None:
    assert embedder.encode([]) == []


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (["text", ["tokens"]], r"sentence 1 is list .*give raw texts or token lists"),
        ([["a", 3]], "token 1 of sentence 0 is int"),
        ([5], "sentence 0 is int"),
        ([None], "sentence 0 is NoneType"),
    ],
)
def test_other_input_is_refused_with_its_place(embedder: Embedder, sentences: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        embedder.encode(sentences)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layers": 3}, "layers is 3; it must be 'mean', 'top', 'all' or a number from 0 to 2"),
        ({"layers": -4}, "layers is -4"),
        ({"layers": "best"}, "layers is 'best'"),
        ({"layers": True}, "layers is True"),
        ({"pooling": "sum"}, "pooling is 'sum'"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_impossible_options_are_refused(embedder: Embedder, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        embedder.encode(SENTENCES, **arguments)


def test_a_path_in_the_place_of_a_model_is_refused_with_what_takes_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model is .*Path\(.*elmo.load takes a name or a path"):
        Embedder(tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), [("state", "warm"), ("precision", "int3"), ("num_threads", 0)])
def test_impossible_arguments_of_load_are_refused(model_directory: Path, name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"{name} is {value!r}"):
        load(model_directory, device="cpu", **{name: value})


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_that_a_cpu_does_not_run_becomes_float32_with_a_warning(
    model_directory: Path,
    embedder: Embedder,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    dtype: str,
) -> None:
    monkeypatch.setattr(precision_module, "kernels_multiply_bfloat16", lambda: False)
    monkeypatch.setattr(bfloat16, "TRIAL", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    bfloat16.cpu_runs_bfloat16.cache_clear()
    half = load(model_directory, device="cpu", precision=dtype)
    bfloat16.cpu_runs_bfloat16.cache_clear()
    assert "computing in float32" in caplog.text
    assert half.precision == "float32"
    close(half.encode(SENTENCES)[0], embedder.encode(SENTENCES)[0])


@pytest.mark.skipif(not kernels_run(), reason="no C++ compiler, so there are no kernels")
@pytest.mark.parametrize(("precision", "nearest"), [("int8", 0.99), ("bfloat16", 0.999)])
def test_smaller_factors_give_nearly_the_same_vectors(
    model_directory: Path, embedder: Embedder, precision: Precision, nearest: float
) -> None:
    if precision == "bfloat16" and not kernels_multiply_bfloat16():
        pytest.skip("this processor has no instructions for bfloat16")
    small = load(model_directory, device="cpu", precision=precision)
    assert small.precision == precision
    for found, wanted in zip(small.encode(SENTENCES), embedder.encode(SENTENCES), strict=True):
        cosine = (found * wanted).sum(-1) / np.linalg.norm(found, axis=-1) / np.linalg.norm(wanted, axis=-1)
        assert (cosine > nearest).all()
    assert any((a != b).any() for a, b in zip(small.encode(SENTENCES), embedder.encode(SENTENCES), strict=True))


def test_without_compiled_kernels_vectors_are_the_same_and_int8_is_refused_aloud(
    model_directory: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(runners, "kernels_run", lambda: False)
    plain = load(model_directory, device="cpu", precision="int8")
    assert "computing in float32" in caplog.text
    assert plain.precision == "float32"
    for found, wanted in zip(plain.encode(SENTENCES), embedder.encode(SENTENCES), strict=True):
        close(found, wanted)


def test_float64_agrees_with_float32(model_directory: Path, embedder: Embedder) -> None:
    double = load(model_directory, device="cpu", precision="float64")
    assert double.bilm.settled_h.dtype == torch.float64
    close(double.encode(SENTENCES)[0], embedder.encode(SENTENCES)[0])


@pytest.mark.parametrize("state", ["settled", "zero", "carry"])
def test_float64_comes_out_as_float64_whatever_is_asked_for(model_directory: Path, state: StateMode) -> None:
    double = load(model_directory, device="cpu", precision="float64", state=state)
    found = [double.encode("one text"), double.encode(""), *double.encode(SENTENCES, layers="all", normalize=True)]
    found += [double.encode(texts, pooling=pooling) for texts in (SENTENCES, [[]], []) for pooling in ("mean", "max")]
    assert {vectors.dtype for vectors in found} == {np.dtype(np.float64)}
    assert double.encode("one text", convert_to_numpy=False).dtype == torch.float64
    assert np.abs(found[2] - found[2].astype(np.float32)).max() > 0  # not float32 in a wider type


def test_threads_are_set_for_the_call_only(model_directory: Path, embedder: Embedder) -> None:
    before = torch.get_num_threads()
    close(load(model_directory, device="cpu", num_threads=2).encode(SENTENCES)[0], embedder.encode(SENTENCES)[0])
    assert torch.get_num_threads() == before


def test_a_pickled_embedder_refers_to_its_files(embedder: Embedder) -> None:
    data = pickle.dumps(embedder)
    assert len(data) < 1000
    close(pickle.loads(data).encode(SENTENCES)[0], embedder.encode(SENTENCES)[0])


def test_a_pickle_differs_where_another_model_was_written_to_the_same_path(tmp_path: Path) -> None:
    """What is kept under the hash of a pickle (`datasets.map`) is not taken for the vectors of another model."""
    pickles = []
    for seed in (0, 1):
        write_model(LoadedModel(bilm=make_bilm(seed=seed), tokenizer=Tokenizer()), tmp_path / "model", overwrite=True)
        pickles.append([pickle.dumps(load(tmp_path / "model", device="cpu")) for _ in range(2)])
    assert pickles[0][0] == pickles[0][1]
    assert pickles[0][0] != pickles[1][0]


def test_a_pickled_embedder_loads_again_as_it_was_loaded(
    model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {
        "device": "cpu",
        "precision": "float64",
        "state": "zero",
        "num_threads": 1,
        "options": None,
        "offline": True,
    }
    data = pickle.dumps(load(model_directory, **chosen))
    seen: dict[str, object] = {}
    monkeypatch.setattr("elmo.embed.loading.load", lambda **options: seen.update(options))
    pickle.loads(data)
    assert seen == {"name_or_path": str(model_directory), **chosen}


def test_an_embedder_without_files_says_how_to_pickle_it() -> None:
    model = LoadedModel(bilm=make_bilm(), tokenizer=Tokenizer(rule="whitespace"))
    with pytest.raises(TypeError, match="save_pretrained"):
        pickle.dumps(Embedder(model, device="cpu"))


def test_it_works_in_data_loader_workers(embedder: Embedder) -> None:
    texts = [" ".join(s) for s in SENTENCES if s]
    loader = DataLoader(
        texts, batch_size=2, num_workers=2, collate_fn=Collate(embedder), multiprocessing_context="spawn"
    )
    vectors = [v for batch in loader for v in batch]
    for a, b in zip(vectors, embedder.encode(texts), strict=True):
        close(a, b)


class Collate:
    """What a user would pass to a DataLoader: sentences to vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def __call__(self, texts: list[str]) -> list[np.ndarray]:
        return self.embedder.encode(texts)


def test_out_of_memory_halves_the_batch(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sentences = [[f"w{n}", "x"] for n in range(8)]
    expected = embedder.encode(sentences)
    real = BatchEmbedder._embed_together
    sizes = []

    def scarce(self: Embedder, batch: list[object], *rest: object) -> object:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(self, batch, *rest)

    monkeypatch.setattr(BatchEmbedder, "_embed_together", scarce)
    for a, b in zip(embedder.encode(sentences), expected, strict=True):
        close(a, b)
    assert sizes == [8, 4, 2, 2, 4, 2, 2]
    assert "halving" in caplog.text


def test_out_of_memory_with_one_sentence_makes_windows_smaller(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"w{n}" for n in range(100)]
    expected = embedder.encode([words])[0]
    real = BatchEmbedder._embed_long
    windows = []

    def none(*_: object) -> object:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    def scarce(self: Embedder, *rest: object, window: int) -> object:
        windows.append(window)
        if window > 30:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return real(self, *rest, window=window)

    monkeypatch.setattr(BatchEmbedder, "_embed_together", none)
    monkeypatch.setattr(BatchEmbedder, "_embed_long", scarce)
    close(embedder.encode([words])[0], expected)
    assert windows == [51, 25]


def test_another_error_is_not_taken_for_lack_of_memory(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(BatchEmbedder, "_embed_together", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        embedder.encode(SENTENCES)


def test_words_are_encoded_once_over_all_batches(model_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = load(model_directory, device="cpu")
    asked: list[str] = []
    real = embedder._encode_words
    monkeypatch.setattr(embedder, "_cache", WordCache(lambda words: (asked.extend(words), real(words))[1], size=8))
    embedder.encode([["a", "b", "a"], ["b", "c"]] * 50, batch_size=3)
    assert sorted(asked) == ["a", "b", "c"]


def test_loading_without_a_name_loads_the_packaged_model(
    model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "packaged_directory", lambda *_: model_directory)
    embedder = load(device="cpu")
    assert embedder.model.source == str(model_directory)
    again = pickle.loads(pickle.dumps(embedder))
    np.testing.assert_array_equal(again.encode("a bank"), embedder.encode("a bank"))
    assert Elmo.from_pretrained().dim == embedder.dim


def test_loading_without_a_name_where_no_model_is_packaged_says_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "packaged_directory", lambda name="english": tmp_path / name)
    with pytest.raises(WeightsError, match=r"comes without its model .* name another one"):
        load()


def test_an_embedder_says_what_it_is(embedder: Embedder, model_directory: Path) -> None:
    wanted = f"Embedder({str(model_directory)!r}, 3 layers of 16, device='cpu', precision='float32', state='settled')"
    assert repr(embedder) == wanted


def test_a_model_is_saved_a_second_time_when_that_is_allowed(embedder: Embedder, tmp_path: Path) -> None:
    embedder.save_pretrained(tmp_path / "saved")
    with pytest.raises(WeightsError, match="--overwrite, overwrite=True"):
        embedder.save_pretrained(tmp_path / "saved")
    embedder.save_pretrained(tmp_path / "saved", overwrite=True)
    np.testing.assert_array_equal(load(tmp_path / "saved", device="cpu").encode("a"), embedder.encode("a"))


@pytest.mark.parametrize("sentences", [b"abc", [b"abc"], [["a", b"abc"]], ["a", bytearray(b"abc")]])
def test_bytes_are_called_bytes(embedder: Embedder, sentences: object) -> None:
    with pytest.raises(InputError, match=r"byte(s|array) \(b'abc'\), not text: decode it first"):
        embedder.encode(sentences)  # type: ignore[arg-type]


def test_returned_tokens_are_a_sequence_of_words(embedder: Embedder) -> None:
    vectors, tokens = embedder.encode("The bank isn't open.", return_tokens=True)
    assert list(tokens) == ["The", "bank", "is", "n't", "open", "."]
    assert len(tokens) == len(vectors)
    assert (tokens[1], tokens[-1], tokens[1:3]) == ("bank", ".", ["bank", "is"])
    assert "bank" in tokens
    assert tokens.offsets[1] == (4, 8)
