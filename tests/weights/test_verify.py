import json
from pathlib import Path

import pytest
from tests.weights.making import CONFIGS, make_model

from elmo.weights.describe import describe_model
from elmo.weights.formats import write_model
from elmo.weights.verify import verify_model

GOLDEN = Path(__file__).parents[1] / "golden" / "bilm"


@pytest.mark.parametrize("name", ["plain", "words", "one direction"])
@pytest.mark.parametrize("format_", ["native", "bilm-tf"])
def test_a_sound_model_has_no_fault(name, format_, tmp_path):
    write_model(make_model(CONFIGS[name]), tmp_path / "model", format=format_)
    findings = verify_model(tmp_path / "model")
    assert len(findings) >= 3
    assert all(finding.ok for finding in findings)


def test_one_changed_bit_is_found_by_hash_and_self_test(tmp_path):
    write_model(make_model(), tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    raw = bytearray(path.read_bytes())
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    start = 8 + int.from_bytes(raw[:8], "little") + header["lstm.layers.1.bias"]["data_offsets"][0]
    raw[start + 3] ^= 0x80  # the sign of one bias
    path.write_bytes(raw)
    faults = [finding.what for finding in verify_model(tmp_path / "model") if not finding.ok]
    assert len(faults) == 3
    assert "sha256 of model.safetensors: found" in faults[0]
    assert "sha256 of the numbers" in faults[1]
    assert "self-test" in faults[2]


@pytest.mark.parametrize("self_test", [None, {}, {"layers": "x"}, {"layers": [[1.0]], "sentence": [], "word": 5}])
def test_a_record_that_makes_no_sense_is_a_fault_and_no_crash(self_test, tmp_path):
    write_model(make_model(), tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["self_test"] = self_test
    values["weights"] = 3
    path.write_text(json.dumps(values), encoding="utf-8")
    assert [finding.ok for finding in verify_model(tmp_path / "model")].count(False) == 3


def test_an_unreadable_model_is_one_fault(tmp_path):
    (finding,) = verify_model(tmp_path)
    assert not finding.ok
    assert str(tmp_path) in finding.what


def test_info_names_what_matters(tmp_path):
    facts = describe_model(GOLDEN / "skip2")
    assert facts["format"] == "bilm-tf"
    assert facts["parameters"] == 5882
    assert facts["vectors"] == "3 layers of 12"
    assert facts["clips"] == "cell 3.0, projection 3.0"
    write_model(make_model(CONFIGS["words"]), tmp_path / "model", storage="float16")
    facts = describe_model(tmp_path / "model")
    assert facts["stored as"] == "float16"
    assert facts["vocabulary"] == "7 words"
    assert facts["settled state"] == "stored"
    json.dumps(facts)
