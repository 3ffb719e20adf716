import json
import logging
import shutil

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.weights.making import CONFIGS, character_config, make_model

from elmo.errors import WeightsError
from elmo.model.architecture import BiLMConfig
from elmo.model.characters import CharCNNConfig
from elmo.model.stacks import BiLSTMConfig
from elmo.text.tokenizer import Tokenizer
from elmo.weights.formats import find_in, read_model, write_model


@pytest.mark.parametrize("name", CONFIGS)
def test_native_to_hdf5_to_native_changes_no_bit(name, tmp_path):
    model = make_model(CONFIGS[name])
    write_model(model, tmp_path / "hdf5", format="bilm-tf")
    write_model(read_model(tmp_path / "hdf5"), tmp_path / "native")
    again = read_model(tmp_path / "native")
    assert again.config == model.config
    state, wanted = again.bilm.state_dict(), model.bilm.state_dict()
    assert all(torch.equal(state[key], wanted[key]) for key in wanted)


@settings(max_examples=25)
@given(
    filters=st.lists(st.tuples(st.integers(1, 7), st.integers(1, 5)), min_size=1, max_size=4),
    highways=st.integers(0, 2),
    output_dim=st.integers(1, 9),
    cell_dim=st.integers(1, 12),
    layers=st.integers(1, 3),
    clips=st.none() | st.floats(0.01, 10),
    skip_connections=st.booleans(),
    bidirectional=st.booleans(),
)
def test_any_architecture_that_the_layout_holds_survives_a_round_trip(tmp_path_factory, **sizes):
    sizes["filters"] = tuple(sizes["filters"])
    sizes["cell_dim"] = max(sizes["cell_dim"], sizes["output_dim"])
    model = make_model(character_config(**sizes))
    path = tmp_path_factory.mktemp("any") / "hdf5"
    write_model(model, path, format="bilm-tf")
    again = read_model(path, settle=False)
    assert again.config == model.config
    assert again.sha256 == model.sha256


def _edit(directory, change):
    path = directory / "options.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.parametrize("count", [261, 262, None])
def test_either_number_of_characters_is_accepted(count, checkpoint):
    _edit(checkpoint, lambda v: v["char_cnn"].update(n_characters=count))
    assert read_model(checkpoint).sha256 == make_model().sha256


def test_the_number_of_characters_that_loaders_want_is_written(checkpoint):
    options = json.loads((checkpoint / "options.json").read_text(encoding="utf-8"))
    assert options["char_cnn"]["n_characters"] == 262
    with h5py.File(checkpoint / "weights.hdf5") as file:
        assert file["char_embed"].shape == (261, 4)


def test_unknown_keys_of_options_and_weights_are_left_alone(checkpoint):
    def change(values):
        values.update(reverse=True, all_clip_norm_val=10.0, charset=["x"])
        values["lstm"]["future"] = {"a": 1}
        values["char_cnn"]["projection_after_highway"] = None

    _edit(checkpoint, change)
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        file["extra/table"] = np.zeros(3)
    assert read_model(checkpoint).sha256 == make_model().sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["char_cnn"].update(n_characters=260), "char_cnn: n_characters is 260, but 261 or 262"),
        (lambda v: v["char_cnn"].update(activation="gelu"), "activation is 'gelu'"),
        (lambda v: v["char_cnn"].update(filters=[[1, 2, 3]]), "filters is"),
        (lambda v: v["char_cnn"].update(filters=[]), "filters is empty"),
        (lambda v: v["char_cnn"].update(filters=[[99, 4]]), "a width is 1 to 50"),
        (lambda v: v["char_cnn"].update(embedding=4), "embedding is 4"),
        (lambda v: v["char_cnn"]["embedding"].update(dim=5), r"char_embed: found shape \(261, 4\), but \(261, 5\)"),
        (lambda v: v["char_cnn"].update(n_highway=2), "CNN_high_1/W_carry: is missing"),
        (lambda v: v.pop("lstm"), "lstm is None"),
        (lambda v: v["lstm"].update(dim="16"), "dim is '16', but an integer"),
        (lambda v: v["lstm"].update(dim=True), "dim is True, but an integer"),
        (lambda v: v["lstm"].update(dim=10**12), "lstm.cell_dim is 1,000,000,000,000"),
        (lambda v: v["lstm"].update(n_layers=10**9), "lstm.layers is 1,000,000,000"),
        (lambda v: v["lstm"].update(n_layers=0), "lstm.layers is 0"),
        (lambda v: v["lstm"].update(projection_dim=32), "must have one size|must be equal"),
        (lambda v: v["lstm"].update(cell_clip=-1), "cell_clip is -1"),
        (lambda v: v["lstm"].update(cell_clip="3"), "cell_clip is '3'"),
        (lambda v: v["lstm"].update(use_skip_connections="no"), "use_skip_connections is 'no'"),
    ],
)
def test_wrong_options_are_refused_with_file_key_found_and_wanted(change, message, checkpoint):
    _edit(checkpoint, change)
    with pytest.raises(WeightsError, match=message) as caught:
        read_model(checkpoint)
    assert str(checkpoint) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_dataset_is_named(checkpoint):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        del file["RNN_1/RNN/MultiRNNCell/Cell0/LSTMCell/B"]
    with pytest.raises(WeightsError, match=r"weights.hdf5: RNN_1.*Cell0/LSTMCell/B: is missing, but \(64,\) is wanted"):
        read_model(checkpoint)


def test_a_dataset_of_the_wrong_shape_is_named_with_both_shapes(checkpoint):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        del file["char_embed"]
        file["char_embed"] = np.zeros((262, 4), "f4")
    with pytest.raises(WeightsError, match=r"char_embed: found shape \(262, 4\), but \(261, 4\) is wanted"):
        read_model(checkpoint)


def test_nan_is_refused(checkpoint):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        file["CNN/b_cnn_0"][1] = np.nan
    with pytest.raises(WeightsError, match=r"tokens.filter_biases.0: has NaN"):
        read_model(checkpoint)


@pytest.mark.parametrize("dtype", ["f2", "f8", ">f4"])
@pytest.mark.parametrize(
    "how", [{}, {"chunks": (100, 3)}, {"compression": "gzip", "shuffle": True, "fletcher32": True}]
)
def test_other_floating_types_and_harmless_filters_are_read(dtype, how, checkpoint):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        values = file["char_embed"][...].astype("f2")
        del file["char_embed"]
        file.create_dataset("char_embed", data=values.astype(dtype), dtype=dtype, **how)
    model = read_model(checkpoint)
    assert np.array_equal(model.bilm.tokens.characters[1:].detach().numpy(), values.astype("f4"))


def test_the_names_that_bilm_tfs_dump_gives_to_small_models_are_read(tmp_path):
    for name, root in (
        ("one layer", "RNN_{}/RNN/LSTMCell"),
        ("one direction", None),
        ("one direction, one layer", None),
    ):
        model = make_model(CONFIGS[name])
        path = tmp_path / name
        write_model(model, path, format="bilm-tf")
        with h5py.File(path / "weights.hdf5", "a") as file:
            for layer in range(model.config.lstm.layers):
                for direction in range(model.config.lstm.directions):
                    group = file[f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"]
                    cell = f"MultiRNNCell/Cell{layer}/" if model.config.lstm.layers > 1 else ""
                    names = {"W_0": "kernel", "B": "bias", "W_P_0": "projection/kernel"}
                    for key, old in names.items():
                        where = f"{root.format(direction)}/{key}" if root else f"rnn/{cell}LSTMCell/{old}"
                        file[where] = group[key][...]
            for direction in range(model.config.lstm.directions):
                del file[f"RNN_{direction}/RNN/MultiRNNCell"]
        assert read_model(path).sha256 == model.sha256


def test_models_that_the_layout_cannot_hold_are_refused_and_nothing_is_written(tmp_path):
    config = BiLMConfig(
        tokens=CharCNNConfig(embedding_dim=4, filters=((1, 8),), output_dim=8),
        lstm=BiLSTMConfig(input_dim=8, cell_dim=8, projection_dim=8),
    )
    with pytest.raises(WeightsError, match=r"projection_dim is 8.*native format"):
        write_model(make_model(config), tmp_path / "hdf5", format="bilm-tf")
    with pytest.raises(WeightsError, match=r"float16.*float32 only"):
        write_model(make_model(), tmp_path / "hdf5", format="bilm-tf", storage="float16")
    assert list(tmp_path.iterdir()) == []


def test_what_the_format_drops_is_said(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, logger="elmo"):
        write_model(make_model(CONFIGS["no skips"]), tmp_path / "a", format="bilm-tf")
        write_model(make_model(CONFIGS["words"]), tmp_path / "b", format="bilm-tf")
    assert "without skip connections" in caplog.text
    assert "word ids" in caplog.text


def test_a_checkpoint_is_found_under_the_names_in_use(checkpoint, tmp_path):
    wanted = make_model().sha256
    for weights, options in (
        ("model.hdf5", "options.json"),
        ("lm_weights.hdf5", "options.json"),
        ("elmo_tiny_weights.hdf5", "elmo_tiny_options.json"),
    ):
        folder = tmp_path / weights
        folder.mkdir()
        shutil.copy(checkpoint / "weights.hdf5", folder / weights)
        shutil.copy(checkpoint / "options.json", folder / options)
        assert find_in(folder).format.name == "bilm-tf"
        assert read_model(folder).sha256 == wanted
        assert read_model(folder / weights).sha256 == wanted


def test_options_may_lie_elsewhere_if_they_are_named(checkpoint, tmp_path):
    shutil.move(checkpoint / "options.json", tmp_path / "elsewhere.json")
    with pytest.raises(WeightsError, match=r"options.json is missing"):
        read_model(checkpoint / "weights.hdf5")
    assert read_model(checkpoint / "weights.hdf5", options=tmp_path / "elsewhere.json").sha256 == make_model().sha256


def test_two_models_in_one_folder_are_told_apart_by_name_or_not_at_all(checkpoint, tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for name in ("a", "b"):
        shutil.copy(checkpoint / "weights.hdf5", folder / f"elmo_{name}_weights.hdf5")
        shutil.copy(checkpoint / "options.json", folder / f"elmo_{name}_options.json")
    with pytest.raises(WeightsError, match=r"several files could be weights.hdf5: elmo_a_weights.hdf5, elmo_b"):
        read_model(folder)
    assert read_model(folder / "elmo_b_weights.hdf5").sha256 == make_model().sha256


def test_a_path_that_is_no_model_is_named(tmp_path):
    with pytest.raises(WeightsError, match="nothing: there is no such file"):
        read_model(tmp_path / "nothing")
    with pytest.raises(WeightsError, match="is not a model directory"):
        read_model(tmp_path)
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(WeightsError, match=r"notes.txt: is not a model"):
        read_model(tmp_path / "notes.txt")


def test_a_word_model_needs_its_vocabulary_of_the_right_size(tmp_path):
    write_model(make_model(CONFIGS["words"]), tmp_path / "hdf5", format="bilm-tf")
    (tmp_path / "hdf5" / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n", encoding="utf-8")
    with pytest.raises(WeightsError, match="embedding: found 7 rows, but the vocabulary has 3 words"):
        read_model(tmp_path / "hdf5")
    (tmp_path / "hdf5" / "vocab.txt").unlink()
    with pytest.raises(WeightsError, match=r"vocab.txt is missing"):
        read_model(tmp_path / "hdf5")


def test_who_writes_a_model_of_another_language_hears_how_to_use_it(tmp_path, caplog):
    model = make_model(next(iter(CONFIGS.values())))
    with caplog.at_level(logging.WARNING):
        write_model(model.replace(tokenizer=Tokenizer("unicode", "de")), tmp_path / "german", format="bilm-tf")
    assert "the tokenizer rule 'unicode' is not written" in caplog.text
    assert "so give them tokens (--tokenized)" in caplog.text
    caplog.clear()
    write_model(model.replace(tokenizer=Tokenizer("treebank")), tmp_path / "english", format="bilm-tf")
    assert "tokenizer" not in caplog.text
