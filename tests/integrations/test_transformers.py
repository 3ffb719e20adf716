"""ELMo in the real transformers, datasets and sentence-transformers: the vectors of `encode`, training, saving."""

import copy
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.making import SENTENCES, TEXTS, write_tiny

pytest.importorskip("transformers", reason="needs the extra `transformers` (make test-integrations has it)")
pytest.importorskip("sentence_transformers", reason="needs the extra `sentence-transformers` (make test-integrations)")
pytest.importorskip("datasets", reason="needs datasets (make test-integrations has it)")
pytest.importorskip("accelerate", reason="needs accelerate (make test-integrations has it)")

import torch
from datasets import Dataset
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    pipeline,
)

import elmo
from elmo.apps.cli import main
from elmo.embed.module import Elmo
from elmo.integrations.transformers import ElmoConfig, ElmoModel, ElmoTokenizer
from elmo.weights import read_model
from elmo.weights.verify import verify_model

pytestmark = pytest.mark.integration
LONG = "ä" * 30 + " ab" + "中" * 20  # cut inside a character


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model")
    native = write_tiny(place / "tiny")
    assert main(["convert", str(native), str(place / "hf"), "--to", "transformers"]) == 0
    return place / "hf"


def layers_of(model: ElmoModel, tokenizer: ElmoTokenizer, texts: list[str]) -> list[np.ndarray]:
    encoded = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = torch.stack(model(**encoded, output_hidden_states=True).hidden_states)
    return [hidden[:, n, : int(mask.sum())].numpy() for n, mask in enumerate(encoded["attention_mask"])]


def test_all_layers_are_those_of_encode(folder: Path) -> None:
    texts = [*TEXTS, "", LONG]
    found = layers_of(AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder), texts)
    for ours, theirs in zip(elmo.load(folder).encode(texts, layers="all"), found, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-6)


def test_tokens_that_are_given_are_taken_as_they_are(folder: Path) -> None:
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(SENTENCES, is_split_into_words=True, padding=True, return_tensors="pt")
    found = model(**encoded).last_hidden_state
    for n, vectors in enumerate(elmo.load(folder).encode(SENTENCES)):
        np.testing.assert_allclose(found[n, : len(vectors)].numpy(), vectors, atol=1e-6)
        assert not found[n, len(vectors) :].any()
    assert encoded.word_ids(1) == [0, None, None, None, None, None]
    assert encoded.tokens(2)[:4] == SENTENCES[2]


def test_the_top_layer_can_be_the_output(folder: Path) -> None:
    model, tokenizer = AutoModel.from_pretrained(folder, output="top"), AutoTokenizer.from_pretrained(folder)
    found = model(**tokenizer(TEXTS[0], return_tensors="pt")).last_hidden_state[0]
    expected = elmo.load(folder).encode(TEXTS[0], layers="top", split_sentences=False)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)


def test_a_learned_mix_can_be_the_output_and_learns_alone(folder: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    plain = AutoModel.from_pretrained(folder)(**encoded).last_hidden_state
    for model in (AutoModel.from_pretrained(folder, output="mix"), ElmoModel.from_elmo(folder, output="mix")):
        assert [name for name, p in model.named_parameters() if p.requires_grad] == ["mix.weights", "mix.gamma"]
        torch.testing.assert_close(model(**encoded).last_hidden_state, plain, rtol=0, atol=1e-6)
        model(**encoded).last_hidden_state.square().sum().backward()
        assert model.mix.weights.grad.abs().sum() > 0
    with torch.no_grad():
        model.mix.weights.copy_(torch.tensor([3.0, 0.0, -1.0]))
    model.save(tmp_path / "mixed")
    again = AutoModel.from_pretrained(tmp_path / "mixed")
    expected = model(**encoded).last_hidden_state
    assert (expected - plain).abs().max() > 0.01
    torch.testing.assert_close(again(**encoded).last_hidden_state, expected, rtol=0, atol=0)
    assert read_model(tmp_path / "mixed").sha256 == read_model(folder).sha256
    np.testing.assert_allclose(
        elmo.load(tmp_path / "mixed").encode(TEXTS[0]), elmo.load(folder).encode(TEXTS[0]), atol=1e-6
    )


def test_a_batch_without_tokens_has_vectors_of_no_tokens(folder: Path) -> None:
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert model(**tokenizer(["", " "], padding=True, return_tensors="pt")).last_hidden_state.shape == (2, 0, 16)
    padded = tokenizer([""], padding="max_length", max_length=4, return_tensors="pt")
    assert not model(**padded).last_hidden_state.any()


def test_the_folder_is_a_sound_model_of_this_library_too(folder: Path, tmp_path: Path) -> None:
    assert all(finding.ok for finding in verify_model(folder))
    AutoModel.from_pretrained(folder).save(tmp_path / "again")
    assert all(finding.ok for finding in verify_model(tmp_path / "again"))
    assert read_model(tmp_path / "again").sha256 == read_model(folder).sha256
    for place in (folder, tmp_path / "again"):
        card = (place / "README.md").read_text("utf-8")
        assert card.startswith("---\nlanguage: en\nlibrary_name: elmo\n")
        assert card.count("import elmo.integrations.transformers") == 1
        assert (place / "model.safetensors").stat().st_mode == (place / "config.json").stat().st_mode
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "again")
    assert (tokenizer.rule, tokenizer.language) == ("treebank", "en")


def test_half_the_bytes_are_read_as_float32(folder: Path, tmp_path: Path) -> None:
    command = ["convert", str(folder), str(tmp_path / "half"), "--to", "transformers", "--storage", "float16"]
    assert main(command) == 0
    model = AutoModel.from_pretrained(tmp_path / "half")
    assert model.dtype is torch.float32
    found = layers_of(model, AutoTokenizer.from_pretrained(tmp_path / "half"), TEXTS)
    for ours, theirs in zip(elmo.load(tmp_path / "half").encode(TEXTS, layers="all"), found, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-6)


def test_int8_and_the_softmax_are_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(folder), str(tmp_path / "x"), "--to", "transformers", "--storage", "int8"]) == 2
    assert "transformers does not read" in capsys.readouterr().err


def test_weights_in_several_files_are_named_as_such(folder: Path, tmp_path: Path) -> None:
    AutoModel.from_pretrained(folder).save_pretrained(tmp_path / "parts", max_shard_size="10KB")
    assert AutoModel.from_pretrained(tmp_path / "parts").num_parameters() > 0
    with pytest.raises(elmo.ElmoError, match="in several files; save it without `max_shard_size`"):
        elmo.load(tmp_path / "parts")


def test_copies_and_pickles_give_the_same_vectors(folder: Path) -> None:
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    expected = model(**encoded).last_hidden_state
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(other(**encoded).last_hidden_state, expected, rtol=0, atol=0)
    again = pickle.loads(pickle.dumps(tokenizer))(TEXTS, padding=True, return_tensors="pt")
    assert torch.equal(again["input_ids"], encoded["input_ids"])


def test_changed_weights_change_the_vectors_at_once(folder: Path) -> None:
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(TEXTS[:1], return_tensors="pt")
    before = model(**encoded).last_hidden_state
    with torch.no_grad():
        next(model.tokens.parameters()).mul_(2)
    assert (model(**encoded).last_hidden_state - before).abs().max() > 1e-3


def test_a_new_model_is_initialized_and_learns_if_told() -> None:
    model = ElmoModel(ElmoConfig(train_bilm=True))
    assert all(torch.isfinite(p).all() for p in model.parameters())
    model(**ElmoTokenizer()("a cat", return_tensors="pt")).last_hidden_state.square().mean().backward()
    assert all(p.grad is not None for p in model.lstm.parameters())


def test_weights_with_holes_are_refused_and_heads_are_filled(folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    head = AutoModelForTokenClassification.from_pretrained(folder, num_labels=3)
    assert head.classifier.bias.tolist() == [0.0] * 3
    assert 0.005 < head.classifier.weight.std() < 0.1
    assert (head.mix.weights.tolist(), head.mix.gamma.item()) == ([0.0] * 3, 1.0)
    shutil.copytree(folder, tmp_path / "holes")
    tensors = load_file(folder / "model.safetensors")
    for name in (next(name for name in tensors if name.startswith("lstm.")), "settled_h"):
        rest = {other: tensor for other, tensor in tensors.items() if other != name}
        save_file(rest, tmp_path / "holes" / "model.safetensors", metadata={"format": "pt"})
        for kind in (AutoModel, AutoModelForTokenClassification):
            with pytest.raises(ValueError, match=f"the weights have no (elmo.)?{name}"):
                kind.from_pretrained(tmp_path / "holes")


def test_each_distinct_word_goes_through_the_characters_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps the speed of `encode`: neither a word that comes twice nor a second batch is computed again."""
    seen: list[int] = []
    real = Elmo._encode_words
    monkeypatch.setattr(Elmo, "_encode_words", lambda self, words: (seen.extend(words), real(self, words))[1])
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    for _ in range(2):
        for texts in (TEXTS, TEXTS[::-1]):
            model(**tokenizer(texts, padding=True, return_tensors="pt"))
    assert sorted(seen) == sorted({word for text in TEXTS for word in tokenizer.tokenize(text)})


def test_the_feature_extraction_pipeline_gives_the_vectors(folder: Path) -> None:
    found = pipeline("feature-extraction", model=str(folder))(TEXTS[0])
    np.testing.assert_allclose(np.array(found[0]), elmo.load(folder).encode(TEXTS[0]), atol=1e-6)


def arguments(folder: Path, *, epochs: int) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=epochs,
        learning_rate=0.05,
        per_device_train_batch_size=4,
        logging_steps=1,
        save_strategy="epoch",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        seed=1,
    )


def losses(trainer: Trainer) -> list[float]:
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_a_tagger_trains_with_the_usual_script_and_its_bilm_stays(folder: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    data = Dataset.from_dict({"words": SENTENCES * 4, "tags": [[len(w) % 2 for w in s] for s in SENTENCES] * 4})

    def align(batch: dict[str, list]) -> dict[str, list]:
        encoded = tokenizer(batch["words"], is_split_into_words=True, truncation=True, max_length=5)
        encoded["labels"] = [[tags[n] for n in encoded.word_ids(k)] for k, tags in enumerate(batch["tags"])]
        return encoded

    data = data.map(align, batched=True, remove_columns=data.column_names, num_proc=2)
    model = AutoModelForTokenClassification.from_pretrained(folder, num_labels=2, classifier_dropout=0.0)
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) == 2 * 16 + 2 + 3 + 1
    before = {name: p.clone() for name, p in model.elmo.named_parameters()}
    trainer = Trainer(
        model,
        arguments(tmp_path / "run", epochs=4),
        train_dataset=data,
        data_collator=DataCollatorForTokenClassification(tokenizer),
        processing_class=tokenizer,
    )
    trainer.train()
    assert sum(losses(trainer)[-3:]) < sum(losses(trainer)[:3])
    assert all(torch.equal(p, before[name]) for name, p in model.elmo.named_parameters())
    trainer.save_model(str(tmp_path / "tagger"))
    again = AutoModelForTokenClassification.from_pretrained(tmp_path / "tagger")
    assert sum(p.numel() for p in again.parameters() if p.requires_grad) == 2 * 16 + 2 + 3 + 1
    encoded = AutoTokenizer.from_pretrained(tmp_path / "tagger")(TEXTS, padding=True, return_tensors="pt")
    torch.testing.assert_close(again.eval()(**encoded).logits, model.eval()(**encoded).logits, rtol=0, atol=1e-6)
    with pytest.raises(elmo.ElmoError, match=r"a head of transformers.*model\.elmo\.save"):
        elmo.load(tmp_path / "tagger")
    again.elmo.save(tmp_path / "alone")
    assert read_model(tmp_path / "alone").sha256 == read_model(folder).sha256


@pytest.mark.parametrize("train_bilm", [False, True])
def test_a_resumed_trainer_ends_where_a_straight_one_does(folder: Path, tmp_path: Path, train_bilm: bool) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    data = Dataset.from_dict({"text": TEXTS, "label": [n % 2 for n in range(len(TEXTS))]})
    data = data.map(lambda batch: tokenizer(batch["text"]), batched=True, remove_columns=["text"])
    ends = []
    for checkpoint in (None, tmp_path / "run" / "checkpoint-2"):
        torch.manual_seed(1)
        model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, train_bilm=train_bilm)
        trainer = Trainer(model, arguments(tmp_path / "run", epochs=3), train_dataset=data, processing_class=tokenizer)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        ends.append(trainer.model.state_dict())
        learning = [name for name, p in trainer.model.named_parameters() if p.requires_grad]
        assert any(name.startswith("elmo.") for name in learning) is train_bilm
    assert all(torch.equal(tensor, ends[1][name]) for name, tensor in ends[0].items())


def test_a_classifier_learns_with_its_bilm(folder: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    data = Dataset.from_dict({"text": TEXTS, "label": [n % 2 for n in range(len(TEXTS))]})
    data = data.map(lambda batch: tokenizer(batch["text"]), batched=True, remove_columns=["text"])
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2, train_bilm=True)
    assert all(p.requires_grad for p in model.parameters())
    before = next(model.elmo.parameters()).clone()
    collator = DataCollatorWithPadding(tokenizer)
    settings = arguments(tmp_path / "run", epochs=8)
    settings.learning_rate = 0.01
    trainer = Trainer(model, settings, train_dataset=data, data_collator=collator, processing_class=tokenizer)
    trainer.train()
    assert sum(losses(trainer)[-4:]) < sum(losses(trainer)[:4])
    assert not torch.equal(next(model.elmo.parameters()), before)


def test_datasets_keep_vectors_that_were_computed_once(folder: Path, tmp_path: Path) -> None:
    embedder = elmo.load(folder)
    data = Dataset.from_dict({"text": TEXTS})
    data.save_to_disk(tmp_path / "data")
    for _ in range(2):
        found = Dataset.load_from_disk(tmp_path / "data").map(
            lambda batch: {"vector": embedder.encode(batch["text"], pooling="mean")}, batched=True
        )
    np.testing.assert_allclose(np.array(found["vector"]), embedder.encode(TEXTS, pooling="mean"), atol=1e-6)


def test_datasets_compute_again_for_another_model_at_the_same_path(tmp_path: Path) -> None:
    Dataset.from_dict({"text": TEXTS}).save_to_disk(tmp_path / "data")
    for seed in (0, 1):
        shutil.rmtree(tmp_path / "tiny", ignore_errors=True)
        embedder = elmo.load(write_tiny(tmp_path / "tiny", seed=seed))
        found = Dataset.load_from_disk(tmp_path / "data").map(
            lambda batch: {"vector": embedder.encode(batch["text"], pooling="mean")},  # noqa: B023 - used at once
            batched=True,
        )
        np.testing.assert_allclose(np.array(found["vector"]), embedder.encode(TEXTS, pooling="mean"), atol=1e-6)


def test_sentence_transformers_in_a_fresh_process_gives_the_means_without_trust(folder: Path, tmp_path: Path) -> None:
    code = f"""
import numpy as np
import elmo.integrations.transformers
from sentence_transformers import SentenceTransformer
if __name__ == "__main__":
    texts = {TEXTS!r}
    model = SentenceTransformer({str(folder)!r}, device="cpu")
    expected = elmo.load({str(folder)!r}).encode(texts, pooling="mean")
    np.testing.assert_allclose(model.encode(texts), expected, atol=1e-6)
    np.testing.assert_allclose(model.encode(texts, device=["cpu", "cpu"]), expected, atol=1e-6)
    model.save_pretrained({str(tmp_path / "st")!r})
    again = SentenceTransformer({str(tmp_path / "st")!r}, device="cpu")
    np.testing.assert_allclose(again.encode(texts, normalize_embeddings=True),
                               expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
"""
    (tmp_path / "fresh.py").write_text(code, encoding="utf-8")  # the processes of a pool import it again
    command = [sys.executable, "-W", "error", str(tmp_path / "fresh.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_the_import_the_folder_is_an_unknown_kind(folder: Path) -> None:
    """Why the import stands first in every example; registered by somebody else one day, it can go."""
    code = f"from transformers import AutoModel; AutoModel.from_pretrained({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "model type `elmo`" in done.stderr


def test_sentence_transformers_gives_token_vectors(folder: Path) -> None:
    model = SentenceTransformer(str(folder), device="cpu")
    found = model.encode(TEXTS[:2], output_value="token_embeddings")
    for ours, theirs in zip(elmo.load(folder).encode(TEXTS[:2]), found, strict=True):
        np.testing.assert_allclose(theirs.numpy(), ours, atol=1e-6)


def test_a_tokenizer_refuses_what_it_cannot_read(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with pytest.raises(ValueError, match=r"not pairs \(text_pair\)"):
        tokenizer("a question", "a context")
    with pytest.raises(ValueError, match=r"text 0 is a (list|tuple).*is_split_into_words=True"):
        tokenizer([("a question", "a context")])
    with pytest.raises(ValueError, match="needs padding=True"):
        tokenizer(["one", "one two"], return_tensors="pt")
    with pytest.raises(ValueError, match="must be 'right'"):
        tokenizer(["one", "one two"], padding=True, padding_side="left")
    with pytest.raises(ValueError, match="text 1 is a float"):
        tokenizer(["one", float("nan")])


def test_a_model_refuses_ids_of_another_tokenizer(folder: Path) -> None:
    model = AutoModel.from_pretrained(folder)
    with pytest.raises(ValueError, match=r"shape \[1, 3\].*ElmoTokenizer"):
        model(torch.ones(1, 3, dtype=torch.long))
    with pytest.raises(ValueError, match="which no word has"):
        model(torch.full((1, 3, 50), 300))


def test_a_tokenizer_reads_its_rows_back(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer("Zürich didn't sleep.", return_offsets_mapping=True, return_special_tokens_mask=True)
    assert tokenizer.decode(encoded["input_ids"]) == "Zürich did n't sleep ."
    padded = tokenizer(["Yes", "a b"], padding=True)["input_ids"]
    assert tokenizer.batch_decode(padded, skip_special_tokens=True) == ["Yes", "a b"]
    assert tokenizer.tokenize("Zürich didn't sleep.") == encoded.tokens()
    assert encoded["offset_mapping"][0] == (0, 6)
    assert tokenizer.pad_token_id == 0


def test_words_by_dictionaries_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = Path(__file__).parent.parent / "golden" / "efml" / "cnn_elmo"
    assert main(["convert", str(model), str(tmp_path / "x"), "--to", "transformers"]) == 2
    assert "only models that read words by characters alone" in capsys.readouterr().err
