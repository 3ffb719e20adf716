"""The readers of what people write: texts, vocabularies, labelled data, word vectors, senses, configurations."""

import gzip
import io
import lzma
from pathlib import Path

import numpy as np

from benchmarks.hostile.mutations import (
    mutate_bytes,
    mutate_json_lines,
    mutate_json_text,
    mutate_npz,
    mutate_text,
    mutate_xml,
)
from benchmarks.hostile.target import Target
from elmo.apps.cli.neighbors import read_questions
from elmo.compat.bilm.vocabulary import UnicodeCharsVocabulary
from elmo.pretrain.config import TrainConfig
from elmo.tasks.embedding.wordvectors import read_word_vectors
from elmo.tasks.recipes import changed_by_file, find_recipe
from elmo.tasks.wsd.corpus import read_sense_corpus
from elmo.tasks.wsd.wordnet import read_first_senses
from elmo.text.lines import read_lines
from elmo.text.vocabulary import Vocabulary
from elmo.text.vocabulary_check import check, fix

TEXT = "The river rose .\nIt fell , and rose again in May 1862 .\n\nElle était haute – déjà .\n".encode()
WORDS = b"<S>\n</S>\n<UNK>\nthe\nriver\nrose\n"
COLUMNS = b"-DOCSTART- -X- O O\n\nPaul NNP B-NP B-PER\nsleeps VBZ B-VP O\n\nLisbon NNP B-NP I-LOC\n"
CONLLU = b"# text = It fell\n1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_\n"
ROLES = b"The DT - (ARG1*\nriver NN - *)\nrose VBD rise.01 (V*)\n. . - *\n\nNothing NN -\n"
DOCUMENT = b"""#begin document (d/1); part 000
d/1 0 0 Paul NNP * - - - Paul * (0|(1)
d/1 0 1 's POS * - - - Paul * 0)

d/1 0 0 He PRP * - - - - * (1)
#end document
"""
TREES = b"(3 (2 The) (4 (3 best) (2 film)))\n(1 (2 Too) (1 long))\n"
LINES = b"good\tA fine river .\nbad\tA dull one .\n"
CSV = b'label,text\ngood,"A fine river, and wide ."\nbad,"A ""dull""\none ."\ngood,Fine again .\n'
JSON_LINES = b'{"text": "A fine river .", "label": "good"}\n{"text": "A dull one .", "label": 0}\n'
PAIRS = (
    b'{"gold_label": "neutral", "sentence1": "A river rose .", "sentence2": "It was \xe2\x80\x9chigh\xe2\x80\x9d ."}\n'
    b'{"gold_label": "-", "sentence1": "It fell .", "sentence2": "It rose ."}\n'
    b'{"gold_label": "entailment", "sentence1": "It rose , `` and fell \'\' .", "sentence2": "It rose ."}\n'
)
PAIR_LINES = b"neutral\tA river rose .\tIt was high .\nentailment\tIt rose , and fell .\tIt rose .\n"
SQUAD = """{"version": "1.1", "data": [{"title": "Rivers", "paragraphs": [{"context": "Élan rose in May 1862. It fell.",
"qas": [{"id": "1", "question": "When did it rise?", "answers": [{"text": "May 1862", "answer_start": 13}]},
{"id": "2", "question": "Who?", "answers": [{"text": "Élan", "answer_start": 0}, {"text": "It", "answer_start": 23}]}
]}]}]}""".encode()
QUESTIONS = b"river\tThe river rose .\nrose\tIt rose and rose again .\t2\n"
VECTORS = b"river 0.1 -0.2 0.3\nrose 1e-3 2.0 3.5\n. 0 0 1\n"
CONFIG = b"""size = "tiny"
steps = 3
window = 4
batch_size = 2
dropout = 0.1

[loss]
kind = "sampled"
samples = 8

[optimizer]
kind = "adam"
learning_rate = 0.001
"""
JSON = (
    b'{"size": "tiny", "steps": 3, "window": 4, "loss": {"kind": "full"}, '
    b'"optimizer": {"kind": "adam", "learning_rate": 0.01}}'
)
RECIPE = b'[train]\nepochs = 2\nlearning_rate = 0.01\n\n[task.model]\nhidden = 12\n\n[embedding.elmo]\nwhere = "none"\n'
SENSES = b"""<?xml version="1.0" encoding="UTF-8"?>
<corpus lang="en"><text id="d000"><sentence id="d000.s000"><wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="river bank" pos="NOUN">river bank</instance><wf lemma="rise" pos="VERB">rose</wf>
</sentence></text></corpus>
"""
KEYS = b"d000.s000.t000 river_bank%1:17:00:: bank%1:17:01::\n"
INDEX = b"bank%1:17:01:: 09213565 1 25\nbank%2:40:00:: 02343110 2 0\nrise%2:38:00:: 01968569 1 85\n"


def text_targets() -> list[Target]:
    """Each file with its reader."""

    def lines(name: str):
        return lambda path: list(read_lines(path / name))

    def vectors(name: str):
        return lambda path: read_word_vectors(path / name).sha256()

    def config(name: str):
        return lambda path: TrainConfig.read(path / name).architecture

    def examples(task: str, name: str):
        def read(path: Path) -> object:
            made = find_recipe(task).make_task()
            found = made.read(str(path / name))
            return made.find_labels(made.training_examples(found)), made.read_questions(str(path / name), None)

        return read

    def vocabulary(path: Path) -> object:
        check(path / "vocab.txt")
        fix(path / "vocab.txt")
        return Vocabulary.read(path / "vocab.txt"), UnicodeCharsVocabulary(path / "vocab.txt", 50)

    def recipe(path: Path) -> object:
        return changed_by_file(find_recipe("ner"), path / "recipe.toml")

    def senses(path: Path) -> object:
        return read_sense_corpus(path / "x.data.xml")

    packed = io.BytesIO()
    np.savez(packed, words=np.array(["river", "rose", "é"]), vectors=np.ones((3, 2), np.float32))
    corpus = {"x.data.xml": SENSES, "x.gold.key.txt": KEYS}
    plain = {
        "text": Target("text", {"t.txt": TEXT}, "t.txt", mutate_text, lines("t.txt")),
        "gz": Target("text.gz", {"t.gz": gzip.compress(TEXT)}, "t.gz", mutate_bytes, lines("t.gz")),
        "xz": Target("text.xz", {"t.xz": lzma.compress(TEXT)}, "t.xz", mutate_bytes, lines("t.xz")),
    }
    return [
        *(Target(t.name, t.files, t.changed, t.mutate, t.read, pipes=True) for t in plain.values()),
        Target("vocabulary of words", {"vocab.txt": WORDS}, "vocab.txt", mutate_text, vocabulary, pipes=True),
        Target("columns", {"c.txt": COLUMNS}, "c.txt", mutate_text, examples("ner", "c.txt"), pipes=True),
        Target("CoNLL-U", {"c.conllu": CONLLU}, "c.conllu", mutate_text, examples("pos", "c.conllu"), pipes=True),
        Target("roles", {"r.txt": ROLES}, "r.txt", mutate_text, examples("roles", "r.txt"), pipes=True),
        Target(
            "document", {"d.conll": DOCUMENT}, "d.conll", mutate_text, examples("coreference", "d.conll"), pipes=True
        ),
        Target("trees", {"c.trees": TREES}, "c.trees", mutate_text, examples("classification", "c.trees"), pipes=True),
        Target("labels", {"c.tsv": LINES}, "c.tsv", mutate_text, examples("classification", "c.tsv"), pipes=True),
        Target("labels.csv", {"c.csv": CSV}, "c.csv", mutate_text, examples("classification", "c.csv"), pipes=True),
        Target(
            "labels.jsonl",
            {"c.jsonl": JSON_LINES},
            "c.jsonl",
            mutate_json_lines,
            examples("classification", "c.jsonl"),
            pipes=True,
        ),
        Target(
            "pairs.jsonl",
            {"c.jsonl": PAIRS},
            "c.jsonl",
            mutate_json_lines,
            examples("entailment", "c.jsonl"),
            pipes=True,
        ),
        Target("pairs", {"c.tsv": PAIR_LINES}, "c.tsv", mutate_text, examples("entailment", "c.tsv"), pipes=True),
        Target("SQuAD", {"c.json": SQUAD}, "c.json", mutate_json_text, examples("questions", "c.json"), pipes=True),
        Target(
            "questions",
            {"q.tsv": QUESTIONS},
            "q.tsv",
            mutate_text,
            lambda path: list(read_questions(str(path / "q.tsv"))),
            pipes=True,
        ),
        Target("word vectors", {"v.txt": VECTORS}, "v.txt", mutate_text, vectors("v.txt"), pipes=True),
        Target("word vectors.npz", {"v.npz": packed.getvalue()}, "v.npz", mutate_npz, vectors("v.npz")),
        Target("senses", corpus, "x.data.xml", mutate_xml, senses),
        Target("sense keys", corpus, "x.gold.key.txt", mutate_text, senses, pipes=True),
        Target(
            "index of senses",
            {"index.sense": INDEX},
            "index.sense",
            mutate_text,
            lambda path: read_first_senses(path / "index.sense"),
            pipes=True,
        ),
        Target("configuration.toml", {"c.toml": CONFIG}, "c.toml", mutate_text, config("c.toml")),
        Target("configuration.json", {"c.json": JSON}, "c.json", mutate_json_text, config("c.json")),
        Target("recipe", {"recipe.toml": RECIPE}, "recipe.toml", mutate_text, recipe),
    ]
