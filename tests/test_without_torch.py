"""What a CPU can do without torch: embedding and all that stands on it. What cannot be done says what to install."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.weights.making import CONFIGS, make_model

import elmo
from elmo.weights.formats import write_model

# Imports of torch fail as where it is not installed; what has been looked up before would not count.
BLOCKED = """
import importlib.util
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Blocker())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else found(name, *rest)
"""
RUN_ELMO = "from elmo.apps.cli.main import main; sys.exit(main(sys.argv[1:]))"
SENTENCES = [["The", "bank", "is", "open", "."], ["Yes", "!"], ["x" * 60, "Übermut"]]
HOW_TO = "pip install 'elmo-embeddings[torch]'"


def without_torch(code: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program in a process where torch is not there."""
    program = [sys.executable, "-c", BLOCKED + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(program, cwd=cwd, capture_output=True, text=True, check=False)


def output_of(code: str, *arguments: object, cwd: Path) -> str:
    done = without_torch(code, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each kind and in each storage."""
    folder = tmp_path_factory.mktemp("models")
    for name in KINDS:
        write_model(make_model(CONFIGS[name]), folder / name)
    for storage in STORAGES:
        write_model(make_model(), folder / storage, storage=storage)
    write_model(make_model(), folder / "hdf5", format="bilm-tf")
    return folder


STORAGES = ("float16", "bfloat16", "int8")
KINDS = ("plain", "two highways, tanh", "no projection of cells", "one direction", "words")
NAMES = (*KINDS, *STORAGES)


def test_encode_imports_no_torch_though_it_is_installed(models: Path, tmp_path: Path) -> None:
    code = """
        import elmo, sys
        embedder = elmo.load(sys.argv[1], device="cpu")
        embedder.encode(["The bank is open."], layers="all", pooling="max", normalize=True)
        repr(embedder), embedder.save_pretrained("saved")
        assert "torch" not in sys.modules
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(models / "plain")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_vectors_are_those_that_torch_computes(models: Path, tmp_path: Path) -> None:
    """All kinds of models, with and without compiled kernels, against the references in float64."""
    code = f"""
        import elmo, numpy as np, os, sys
        for kernels in ("1", "0"):
            os.environ["ELMO_CPU_KERNELS"] = kernels
            from elmo.ops.cpu import library
            library._find_library.cache_clear()
            for name in {NAMES!r}:
                embedder = elmo.load(os.path.join(sys.argv[1], name))
                vectors = embedder.encode({SENTENCES!r}, layers="all")
                np.savez(f"{{name}}-{{kernels}}.npz", *vectors)
            double = elmo.load(os.path.join(sys.argv[1], "plain"), precision="float64")
            assert double.encode({SENTENCES!r})[0].dtype == np.float64
    """
    output_of(code, models, cwd=tmp_path)
    for name in NAMES:
        exact = elmo.load(models / name, device="cpu", precision="float64").encode(SENTENCES, layers="all")
        for kernels in "10":
            with np.load(tmp_path / f"{name}-{kernels}.npz") as found:
                for n, wanted in enumerate(exact):
                    np.testing.assert_allclose(found[f"arr_{n}"], wanted, atol=2e-5)


@pytest.mark.parametrize(
    "arguments",
    [
        ["embed", "text.txt", "-o", "out.hdf5", "--layers", "all"],
        ["embed", "text.txt", "-o", "out.npz", "--precision", "int8", "--pooling", "mean"],
        ["embed", "text.txt", "-o", "out.jsonl", "--state", "carry"],
        ["similar", "bank", "The river bank .", "The bank is open ."],
        ["neighbors", "bank", "The river bank .", "--text", "text.txt"],
        ["words", "words.txt", "-o", "words.bin"],
        ["index", "build", "text.txt", "-o", "index"],
        ["explore", "text.txt", "--export", "page.html", "--word", "bank"],
        ["info", "MODEL"],
        ["verify", "MODEL"],
        ["convert", "MODEL", "converted", "--storage", "int8"],
        ["convert", "MODEL", "converted-hdf5", "--to", "bilm-tf"],
        ["models"],
    ],
    ids=" ".join,
)
def test_commands_of_a_cpu_run(arguments: list[str], models: Path, tmp_path: Path) -> None:
    lines = ["The bank is open .", "We sat on the bank .", "A bank lends money ."]
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "words.txt").write_text("bank\nriver\n", encoding="utf-8")
    model = str(models / "plain")
    given = [model if argument == "MODEL" else argument for argument in arguments]
    if arguments[0] in ("embed", "similar", "neighbors", "words", "index", "explore"):
        given += ["--model", model]
    output_of(RUN_ELMO, *given, cwd=tmp_path)


def test_a_converted_model_has_the_same_numbers(models: Path, tmp_path: Path) -> None:
    output_of(RUN_ELMO, "convert", models / "hdf5" / "weights.hdf5", "back", cwd=tmp_path)
    output_of(RUN_ELMO, "verify", "back", cwd=tmp_path)
    again, model = elmo.load(tmp_path / "back", device="cpu").model, elmo.load(models / "plain", device="cpu").model
    assert again.sha256 == make_model().sha256
    assert model.sha256 == make_model(CONFIGS["plain"]).sha256


@pytest.mark.parametrize(
    "arguments",
    [
        ["pretrain", "corpus", "-o", "run"],
        ["perplexity", "text.txt", "--model", "MODEL"],
        ["score", "text.txt", "--model", "MODEL"],
        ["task", "train", "ner", "--train", "text.txt", "--dev", "text.txt", "-o", "run"],
    ],
    ids=" ".join,
)
def test_commands_that_need_torch_say_so_in_a_line(arguments: list[str], models: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The bank is open .\n", encoding="utf-8")
    given = [str(models / "plain") if argument == "MODEL" else argument for argument in arguments]
    done = without_torch(RUN_ELMO, *given, cwd=tmp_path)
    assert done.returncode == 2
    assert HOW_TO in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "code",
    [
        "elmo.Elmo",
        "elmo.ScalarMix",
        "from elmo.pretrain import pretrain",
        "from elmo.tasks import train_task",
        "from elmo.lm import text_perplexity",
        "elmo.load(sys.argv[1]).encode('a', convert_to_numpy=False)",
        "elmo.load(sys.argv[1]).bilm",
        "elmo.load(sys.argv[1], device='cuda')",
        "import os; os.environ['ELMO_CPU_KERNELS'] = '0'; elmo.load(sys.argv[1], precision='bfloat16')",
        "elmo.load(sys.argv[2])",
        "import elmo.compat.tfhub",
        "from elmo.compat.allennlp import Elmo",
        "from elmo.compat.allennlp import batch_to_ids; batch_to_ids([['a']])",
        "from elmo.compat.bilm import weight_layers",
    ],
)
def test_names_that_need_torch_say_so(code: str, models: Path, tmp_path: Path) -> None:
    golden = Path(__file__).parent / "golden" / "efml" / "cnn_elmo"
    program = f"""
        import elmo
        try:
            {code}
        except ImportError as error:
            print(type(error).__name__, error)
    """
    printed = output_of(program, models / "plain", golden, cwd=tmp_path)
    assert printed.startswith("MissingLibraryError"), printed
    assert HOW_TO in printed


def test_code_for_bilm_tf_runs_and_gives_what_load_gives(tmp_path: Path) -> None:
    golden = Path(__file__).parent / "golden" / "bilm"
    code = f"""
        import elmo, numpy as np, os, sys
        from elmo.compat.bilm import Batcher, BidirectionalLanguageModel, dump_bilm_embeddings, dump_token_embeddings
        files = [os.path.join(sys.argv[1], "skip2", name) for name in ("options.json", "weights.hdf5")]
        words = os.path.join(sys.argv[1], "vocab.txt")
        model = BidirectionalLanguageModel(*files)
        layers = [model(Batcher(words, 50).batch_sentences([s]))["lm_embeddings"][0] for s in {SENTENCES!r}]
        wanted = elmo.load(files[1], state="carry").encode({SENTENCES!r}, layers="all", batch_size=1)
        for found, right in zip(layers, wanted, strict=True):
            np.testing.assert_array_equal(found, right)
        dump_token_embeddings(words, *files, "words.hdf5")
        dump_bilm_embeddings(words, words, *files, "text.hdf5")
    """
    output_of(code, golden, cwd=tmp_path)
    assert (tmp_path / "words.hdf5").is_file()
    assert (tmp_path / "text.hdf5").is_file()


def test_code_for_allennlps_embedder_runs_and_gives_what_load_gives(tmp_path: Path) -> None:
    golden = Path(__file__).parent / "golden" / "bilm"
    code = f"""
        import elmo, io, numpy as np, os, sys
        from elmo.compat.allennlp import ElmoEmbedder
        files = [os.path.join(sys.argv[1], "skip2", name) for name in ("options.json", "weights.hdf5")]
        embedder = ElmoEmbedder(*files)
        layers = [embedder.embed_sentence(s) for s in {SENTENCES!r}]
        wanted = elmo.load(files[1], state="carry").encode({SENTENCES!r}, layers="all", batch_size=1)
        for found, right in zip(layers, wanted, strict=True):
            np.testing.assert_array_equal(found, right)
        embedder.embed_file(io.StringIO("a b\\nc"), "text.hdf5")
    """
    output_of(code, golden, cwd=tmp_path)
    assert (tmp_path / "text.hdf5").is_file()


def test_a_server_without_task_models_starts(models: Path, tmp_path: Path) -> None:
    code = """
        import sys
        import elmo
        from elmo.apps.cli.serve import load_tasks
        from elmo.apps.server.app import make_app
        embedder = elmo.load(sys.argv[1])
        make_app(embedder, tasks=load_tasks([], embedder, None))
    """
    output_of(code, models / "plain", cwd=tmp_path)
