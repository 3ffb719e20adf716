"""ELMo as a model of transformers, in a process of its own: FOLDER as `convert --to transformers` wrote it, OUTPUT."""

import pickle
import sys
from pathlib import Path

import numpy as np
import torch
from datasets import Dataset
from same import assert_same
from texts import SENTENCES, TEXTS
from transformers import (
    AutoModel,
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
    pipeline,
)

import elmo
import elmo.integrations.transformers


def layers_of(model, tokenizer) -> list[np.ndarray]:
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        hidden = torch.stack(model(**encoded, output_hidden_states=True).hidden_states)
    return [hidden[:, n, : int(mask.sum())].numpy() for n, mask in enumerate(encoded["attention_mask"])]


def main(folder: str, output: Path) -> None:
    expected = elmo.load(folder).encode(TEXTS, layers="all")
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert_same(layers_of(model, tokenizer), expected)
    assert_same(pipeline("feature-extraction", model=folder)(TEXTS[0])[0], expected[0].mean(0))
    model.save_pretrained(output / "saved")
    tokenizer.save_pretrained(output / "saved")
    again = AutoModel.from_pretrained(output / "saved"), AutoTokenizer.from_pretrained(output / "saved")
    assert_same(layers_of(*again), expected)
    assert_same(elmo.load(output / "saved").encode(TEXTS, layers="all"), expected)
    assert_same(layers_of(*pickle.loads(pickle.dumps((model, tokenizer)))), expected)
    train(folder, output, tokenizer)


def train(folder: str, output: Path, tokenizer) -> None:
    """One epoch of a tagger with Trainer; its texts are read by two processes."""
    data = Dataset.from_dict({"words": SENTENCES * 4, "tags": [[len(w) % 2 for w in s] for s in SENTENCES] * 4})

    def align(batch):
        encoded = tokenizer(batch["words"], is_split_into_words=True)
        encoded["labels"] = [[tags[n] for n in encoded.word_ids(k)] for k, tags in enumerate(batch["tags"])]
        return encoded

    alone = data.map(align, batched=True, remove_columns=data.column_names)
    data = data.map(align, batched=True, remove_columns=data.column_names, num_proc=2)
    assert list(data) == list(alone)
    tagger = AutoModelForTokenClassification.from_pretrained(folder, num_labels=2, classifier_dropout=0.0)
    settings = TrainingArguments(
        output_dir=str(output / "run"),
        num_train_epochs=1,
        learning_rate=0.05,
        per_device_train_batch_size=4,
        save_strategy="epoch",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        seed=1,
    )
    trainer = Trainer(
        tagger,
        settings,
        train_dataset=data,
        eval_dataset=data,
        data_collator=DataCollatorForTokenClassification(tokenizer),
        processing_class=tokenizer,
    )
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    after = trainer.evaluate()["eval_loss"]
    assert after < before, (before, after)
    trainer.save_model(str(output / "tagger"))
    again = AutoModelForTokenClassification.from_pretrained(output / "tagger").eval()
    encoded = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        assert_same(again(**encoded).logits, tagger.eval()(**encoded).logits)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
