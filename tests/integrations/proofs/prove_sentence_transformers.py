"""ELMo in sentence-transformers, in a process of its own: FOLDER as `convert --to transformers` wrote it, OUTPUT."""

import pickle
import sys
from pathlib import Path

import torch
from datasets import Dataset
from same import assert_same
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from texts import TEXTS

import elmo
import elmo.integrations.transformers


def main(folder: str, output: Path) -> None:
    embedder = elmo.load(folder)
    expected = embedder.encode(TEXTS, pooling="mean")
    model = SentenceTransformer(folder, device="cpu")
    assert_same(model.encode(TEXTS), expected)
    top = SentenceTransformer(folder, device="cpu", config_kwargs={"output": "top"})
    assert_same(top.encode(TEXTS), embedder.encode(TEXTS, layers="top", pooling="mean"))
    assert_same(layers_of(folder), embedder.encode(TEXTS, layers="all"))
    assert_same(model.encode(TEXTS, device=["cpu", "cpu"]), expected)
    model.save_pretrained(str(output / "saved"))
    assert_same(SentenceTransformer(str(output / "saved"), device="cpu").encode(TEXTS), expected)
    assert_same(pickle.loads(pickle.dumps(model)).encode(TEXTS), expected)
    train(folder, output)


def layers_of(folder: str) -> list:
    """All layers of all tokens, as the library hands them from module to module."""
    model = SentenceTransformer(folder, device="cpu", config_kwargs={"output_hidden_states": True})
    features = model.preprocess(TEXTS)
    with torch.inference_mode():
        found = model(features)
    layers = torch.stack(tuple(found["all_layer_embeddings"]))
    return [layers[:, n, : int(mask.sum())].numpy() for n, mask in enumerate(found["attention_mask"])]


def train(folder: str, output: Path) -> None:
    """One epoch in which the biLM itself learns which pairs are alike."""
    model = SentenceTransformer(folder, device="cpu", config_kwargs={"train_bilm": True})
    pairs = [(one, other) for one in TEXTS for other in TEXTS if one < other]
    alike = [float(len(one) % 2 == len(other) % 2) for one, other in pairs]
    data = Dataset.from_dict({"one": [a for a, _ in pairs], "other": [b for _, b in pairs], "score": alike})
    criterion = CosineSimilarityLoss(model)
    settings = SentenceTransformerTrainingArguments(
        output_dir=str(output / "run"),
        num_train_epochs=1,
        learning_rate=0.003,
        per_device_train_batch_size=4,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        seed=1,
    )
    trainer = SentenceTransformerTrainer(model, settings, train_dataset=data, eval_dataset=data, loss=criterion)
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    after = trainer.evaluate()["eval_loss"]
    assert after < before, (before, after)
    model.save_pretrained(str(output / "trained"))
    again = SentenceTransformer(str(output / "trained"), device="cpu").encode(TEXTS)
    assert_same(again, model.encode(TEXTS))
    assert_same(elmo.load(output / "trained").encode(TEXTS, pooling="mean"), again)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
