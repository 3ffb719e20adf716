"""The readers of what a run of before has left: a corpus of wrapped text, fine-tunings, kernels, temporaries."""

import hashlib
import textwrap
from pathlib import Path

from benchmarks.hostile.models import character_model
from benchmarks.hostile.mutations import mutate_bytes, mutate_json_text, mutate_safetensors, mutate_text
from benchmarks.hostile.target import Target
from benchmarks.hostile.works import contents, language_model, targets_of
from elmo.corpus.build import build_corpus
from elmo.corpus.store import CorpusStore
from elmo.disk.directories import clean_up
from elmo.ops.cpu import library
from elmo.pretrain.config import TrainConfig
from elmo.pretrain.extension import extend_softmax, extended_vocabulary
from elmo.pretrain.finetuning import finetune
from elmo.text.vocabulary import Vocabulary
from elmo.weights.formats import read_model, write_model
from elmo.weights.loaded import LoadedModel

# Lines that are cut at a width, so that the build joins them, and records that it did.
SENTENCE = "The river rose in May, fell when the summer came, and rose again as the old books of the town had told. "
WRAPPED = "\n\n".join([textwrap.fill(SENTENCE * 3, 60)] * 12)
LIBRARY = b"compiled code"


def left_targets(directory: Path) -> list[Target]:
    """Each thing once, with one target for each of its files."""
    directory.mkdir(parents=True)
    (directory / "wrapped.txt").write_text(WRAPPED, encoding="utf-8")
    text = directory / "wrapped.txt"
    store = build_corpus(text, directory / "corpus", min_count=1, heldout=0.2, workers=1, documents="blank-lines")
    assert store.manifest["sources"][0]["lines"] == "wrapped"
    return [
        *_corpus(directory, text),
        *_finetuning(directory, store),
        *_extension(directory, store),
        *_kernels(),
        *_temporaries(),
    ]


def _corpus(directory: Path, text: Path) -> list[Target]:
    """A finished corpus that a build with the same options takes as its own."""

    def go_on(path: Path) -> object:
        made = build_corpus(
            text, path / "corpus", min_count=1, heldout=0.2, workers=1, documents="blank-lines", resume=True
        )
        return made.tokenizer, made.verify()

    files = {f"corpus/{name}": content for name, content in contents(directory / "corpus").items()}
    return targets_of("wrapped", files, {"corpus/corpus.json": mutate_json_text}, go_on)


def _finetuning(directory: Path, store: CorpusStore) -> list[Target]:
    """A fine-tuning whose softmax is finished, of a model that had none."""
    model = character_model()
    config = TrainConfig.from_dict(
        {
            "model": model.config.to_dict(),
            "steps": 1,
            "window": 4,
            "batch_size": 2,
            "loss": {"kind": "full"},
            "optimizer": {"kind": "adam"},
        }
    )

    def train(run: Path, *, resume: bool) -> object:
        return finetune(
            model,
            store,
            run,
            config=config,
            softmax_config=config,
            resume=resume,
            device="cpu",
            progress_bar=False,
            tensorboard=False,
        )

    train(directory / "finetuned", resume=False)
    made = contents(directory / "finetuned")
    files = {name: content for name, content in made.items() if name.startswith("softmax/model/")}
    changes = {
        "softmax/model/config.json": mutate_json_text,
        "softmax/model/vocab.txt": mutate_text,
        "softmax/model/model.safetensors": mutate_safetensors,
    }
    return targets_of("finetune", files, changes, lambda path: train(path, resume=True))


def _extension(directory: Path, store: CorpusStore) -> list[Target]:
    """A model whose vocabulary and softmax get the words of a corpus."""
    write_model(language_model(Vocabulary(store.vocabulary.words[:8])), directory / "lm")

    def extend(path: Path) -> LoadedModel:
        model = read_model(path, settle=False)
        if model.softmax is None or model.vocabulary is None:
            return model
        return extend_softmax(model, store.with_vocabulary(extended_vocabulary(model, store)))

    return targets_of("extension", contents(directory / "lm"), {"vocab.txt": mutate_text}, extend)


def _kernels() -> list[Target]:
    files = {"cpu.so": LIBRARY, "cpu.sha256": hashlib.sha256(LIBRARY).hexdigest().encode()}
    changes = {"cpu.so": mutate_bytes, "cpu.sha256": mutate_text}
    return targets_of("kernels", files, changes, lambda path: library._is_as_built(path / "cpu.so"))


def _temporaries() -> list[Target]:
    """What killed writers leave beside their output, and who opens a run removes."""
    names = (".metrics.jsonl.tmp-0123456789ab", ".checkpoint.previous")
    files = dict.fromkeys(names, b"half")
    return targets_of("temporaries", files, dict.fromkeys(names, mutate_bytes), clean_up)
