"""Models of the Hugging Face Hub, with the real huggingface_hub and a server that stands in for the Hub."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.hubserver import Hub, serving
from tests.integrations.making import TEXTS, write_tiny

pytest.importorskip("huggingface_hub", reason="needs huggingface_hub, the extra `hub` (make test-integrations has it)")

import huggingface_hub

import elmo
from elmo.weights.card import name_base

pytestmark = pytest.mark.integration


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(*arguments: str, address: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with caches of its own."""
    return run_python("-m", "elmo", *arguments, address=address, home=home, **environment)


def run_python(*arguments: str, address: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"HF_ENDPOINT": address, "HF_HOME": str(home / "hf"), "ELMO_CACHE": str(home / "elmo"), "HF_TOKEN": "t"}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "ELMO_"))}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**kept, **settings, "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def embed(name: str, output: Path, *, address: str, home: Path, **environment: str) -> np.ndarray:
    text = output.with_suffix(".txt")
    text.write_text(TEXTS[0] + "\n", encoding="utf-8")
    arguments = ["embed", str(text), "-o", str(output), "--model", name, "--overwrite"]
    done = run(*arguments, address=address, home=home, **environment)
    assert done.returncode == 0, done.stderr
    with np.load(output) as file:
        return file["0"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny(tmp_path / "tiny")


def test_a_model_goes_to_the_hub_and_comes_back(folder: Path, tmp_path: Path) -> None:
    (folder / "notes.pkl").write_bytes(b"not a part of a model")
    (folder / "softmax.safetensors").write_bytes(b"a part of one")
    hub = Hub()
    with serving(hub) as address:
        done = run("push", str(folder), "me/tiny", "--message", "First", address=address, home=tmp_path)
        assert done.returncode == 0, done.stderr
        commit = hub.find("me/tiny", "main")
        assert commit is not None
        assert f"/me/tiny/commit/{commit}" in done.stdout
        files = hub.commits["me/tiny"][commit]
        sent = {"config.json", "model.safetensors", "softmax.safetensors", "README.md"}
        assert set(files) == {*sent, ".gitattributes"}
        assert files["model.safetensors"] == (folder / "model.safetensors").read_bytes()
        found = embed("hf:me/tiny", tmp_path / "v.npz", address=address, home=tmp_path)
    np.testing.assert_allclose(found, elmo.load(folder).encode(TEXTS[0]), atol=1e-6)


def test_after_the_first_time_the_network_is_not_asked(folder: Path, tmp_path: Path) -> None:
    hub = Hub()
    commit = hub.commit("me/tiny", {**files_of(folder), "evil.py": b"raise SystemExit"})
    with serving(hub) as address:
        first = embed(f"hf:me/tiny@{commit}", tmp_path / "v.npz", address=address, home=tmp_path)
        assert not any("evil.py" in request for request in hub.requests)
        asked = len(hub.requests)
        again = embed(f"hf:me/tiny@{commit}", tmp_path / "v.npz", address=address, home=tmp_path)
        assert len(hub.requests) == asked
    offline = embed(
        f"hf:me/tiny@{commit}", tmp_path / "v.npz", address="http://127.0.0.1:9", home=tmp_path, ELMO_OFFLINE="1"
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, offline)


IN_OTHER_LIBRARIES = """
import numpy as np, torch
import elmo.integrations.transformers
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

texts, expected = {texts!r}, np.load({expected!r})
model, tokenizer = AutoModel.from_pretrained("me/tiny"), AutoTokenizer.from_pretrained("me/tiny")
assert np.abs(SentenceTransformer("me/tiny", device="cpu").encode(texts) - expected).max() < 1e-6
model.push_to_hub("me/pushed")
tokenizer.push_to_hub("me/pushed")
assert np.abs(SentenceTransformer("me/pushed", device="cpu").encode(texts) - expected).max() < 1e-6
assert np.abs(elmo.load("hf:me/pushed").encode(texts, pooling="mean") - expected).max() < 1e-6
"""


def test_other_libraries_take_and_send_it_too(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers (make test-integrations has it)")
    np.save(tmp_path / "expected.npy", elmo.load(folder).encode(TEXTS, pooling="mean"))
    code = IN_OTHER_LIBRARIES.format(texts=TEXTS, expected=str(tmp_path / "expected.npy"))
    hub = Hub()
    with serving(hub) as address:
        for command in (
            ["convert", str(folder), str(tmp_path / "hf-model"), "--to", "transformers"],
            ["push", str(tmp_path / "hf-model"), "me/tiny"],
        ):
            done = run(*command, address=address, home=tmp_path)
            assert done.returncode == 0, done.stderr
        done = run_python("-c", code, address=address, home=tmp_path)
        assert done.returncode == 0, done.stderr
    assert hub.large  # the weights went by the way of large files
    done = run_python(
        "-c", code.partition("model.push")[0], address="http://127.0.0.1:9", home=tmp_path, HF_HUB_OFFLINE="1"
    )
    assert done.returncode == 0, done.stderr


def test_mixes_come_with_their_model_and_a_task_remembers_its_name(folder: Path, tmp_path: Path) -> None:
    elmo.Elmo.from_pretrained(folder, mixes=2).save_pretrained(tmp_path / "mixes")
    hub = Hub()
    commit = hub.commit("me/mixes", files_of(tmp_path / "mixes"))
    code = """
import elmo
from elmo.weights.formats import portable_name
module = elmo.Elmo.from_pretrained("hf:me/mixes")
print(len(module.mixes), portable_name(module.model.source))
"""
    with serving(hub) as address:
        done = run_python("-c", code, address=address, home=tmp_path)
    assert done.stdout.split() == ["2", f"hf:me/mixes@{commit}"], done.stderr


def test_a_branch_stays_what_it_was_when_it_first_came(folder: Path, tmp_path: Path) -> None:
    hub = Hub()
    hub.commit("me/tiny", files_of(folder))
    with serving(hub) as address:
        first = embed("hf:me/tiny", tmp_path / "v.npz", address=address, home=tmp_path)
        commit = hub.commit("me/tiny", files_of(write_tiny(tmp_path / "other", seed=1)))
        np.testing.assert_array_equal(embed("hf:me/tiny", tmp_path / "v.npz", address=address, home=tmp_path), first)
        newer = embed(f"hf:me/tiny@{commit}", tmp_path / "v.npz", address=address, home=tmp_path)
    assert np.abs(newer - first).max() > 0.01


def test_a_file_that_others_have_changed_is_refused(folder: Path, tmp_path: Path) -> None:
    hub = Hub()
    hub.commit("me/tiny", files_of(folder))
    with serving(hub) as address:
        embed("hf:me/tiny", tmp_path / "v.npz", address=address, home=tmp_path)
        (weights,) = (tmp_path / "hf").rglob("model.safetensors")
        blob = weights.resolve()
        data = bytearray(blob.read_bytes())
        data[-1] ^= 1
        blob.write_bytes(data)
        blob.chmod(0o666)
        done = run("info", "hf:me/tiny", address=address, home=tmp_path)
    assert done.returncode == 2
    assert "the sha256 of model.safetensors is" in done.stderr


def test_what_is_not_there_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    hub = Hub()
    hub.commit("me/tiny", files_of(folder))
    with serving(hub) as address:
        for arguments, message in (
            (["info", "hf:me/nothing"], "hf:me/nothing: the Hub has no such repository, or it is private"),
            (["info", "hf:me/tiny@v9"], "hf:me/tiny@v9: its repository has no such branch, tag or commit"),
            (["info", "hf:nothing"], "hf:user/name or hf:user/name@revision"),
            (["--offline", "info", "hf:me/nothing"], "hf:me/nothing: is not on this machine, and the network is not"),
            (["push", str(tmp_path), "me/tiny"], "is not a native model directory"),
        ):
            done = run(*arguments, address=address, home=tmp_path)
            assert done.returncode == 2
            assert message in done.stderr
            assert len(done.stderr.strip().splitlines()) == 1
    done = run("info", "hf:me/tiny", address="http://127.0.0.1:9", home=tmp_path)
    assert "hf:me/tiny: the Hub refuses or cannot be reached" in done.stderr


def test_a_model_trained_from_one_of_the_hub_names_it_as_its_base(folder: Path) -> None:
    card = name_base((folder / "README.md").read_text("utf-8"), "hf:me/tiny@0123abc")
    assert huggingface_hub.ModelCard(card).data.base_model == "me/tiny"
    assert name_base(card, "hf:me/other") == card
    assert "base_model" not in name_base((folder / "README.md").read_text("utf-8"), "english")


def test_cards_have_the_front_matter_that_the_hub_reads(folder: Path) -> None:
    for card in (folder / "README.md", Path(elmo.__file__).parent / "models" / "english" / "README.md"):
        data = huggingface_hub.ModelCard.load(card).data
        assert (data.language, data.library_name, data.pipeline_tag) == ("en", "elmo", "feature-extraction")
        assert data.tags == ["elmo", "bilm", "contextual-word-embeddings"]
    assert data.license == "cc-by-sa-4.0"
