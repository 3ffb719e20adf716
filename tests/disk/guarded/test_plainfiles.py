"""The readers of untrusted JSON, TOML, XML and arrays: what is beyond reason is refused in one line, and soon."""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from elmo.disk.guarded.arrayfiles import map_npy, read_npz
from elmo.disk.guarded.plainfiles import parse_json, read_json, refusing
from elmo.disk.guarded.tomlfiles import MOST_TOML_BYTES, parse_toml, read_toml
from elmo.disk.guarded.xmlfiles import read_elements
from elmo.disk.workfiles import dump_arrays, read_arrays
from elmo.errors import ConfigError, InputError, ResumeError


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"a":' * 100_000, '{"a": ' + "9" * 100_000 + "}", '{"a": NaN}', "[]"]
)
def test_json_beyond_reason_is_refused_with_the_error_of_its_reader(content: str) -> None:
    with pytest.raises(ResumeError, match=r"^x\.json: ") as caught:
        parse_json(content.encode(), where="x.json", refusal=ResumeError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "content",
    [
        "a = " + "[" * 30_000,
        "a." * 30_000 + "a = 1",
        "a = " + "9" * 10_000,
        "a = 1" + "0" * 20,
        "a = nan",
        "a = ",
        "a = 1\na = 2",
    ],
    ids=["nested", "dotted", "digits", "large", "not a number", "cut short", "twice"],
)
def test_toml_beyond_reason_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"x\.toml: ") as caught:
        read_toml(path)
    assert "\n" not in str(caught.value)


def test_toml_is_read_up_to_a_size_only(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("#" * MOST_TOML_BYTES + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="at most"):
        read_toml(path)
    assert parse_toml("[a]\nb = [0.5, 1]\nc = 0xff\n", where="here") == {"a": {"b": [0.5, 1], "c": 255}}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "x")
    for read in (
        read_json,
        read_toml,
        map_npy,
        lambda path: read_npz(path, ("a",)),
        lambda path: list(read_elements(path, "a")),
    ):
        with pytest.raises(Exception, match="is not a regular file"):
            read(tmp_path / "x")


@pytest.mark.parametrize("encoding", ["big5", "utf-7", "no such", "hex"])
def test_xml_in_an_encoding_that_the_parser_does_not_know_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><a><b/></a>', encoding="ascii")
    with pytest.raises(InputError, match=r"x\.xml: .*is not XML"):
        list(read_elements(path, "b"))


def test_deeply_nested_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text("<a>" * 1000 + "</a>" * 1000, encoding="ascii")
    with pytest.raises(InputError, match="nested more than"):
        list(read_elements(path, "b"))


def test_an_array_is_mapped_as_it_was_saved(tmp_path: Path) -> None:
    for array in (np.arange(6, dtype="<i4").reshape(2, 3), np.zeros((0, 2)), np.asfortranarray(np.ones((2, 3)))):
        np.save(tmp_path / "x.npy", array)
        np.testing.assert_array_equal(map_npy(tmp_path / "x.npy"), array)


@pytest.mark.parametrize("shape", ["(-1,)", "(99999999999,)", "(" * 500, "9" * 5000, "(True,)"])
def test_an_array_of_another_shape_than_it_holds_is_refused(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
    with pytest.raises(InputError, match=r"x\.npy: ") as caught:
        map_npy(tmp_path / "x.npy")
    assert "\n" not in str(caught.value)


def test_an_archive_of_arrays_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    packed = io.BytesIO()
    np.save(packed, np.zeros(20 << 20, np.float32))
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", packed.getvalue())
    with pytest.raises(InputError, match="more than is unpacked"):
        read_npz(tmp_path / "x.npz", ("a",))
    with pytest.raises(InputError, match="has no array 'b'"):
        read_npz(tmp_path / "x.npz", ("b",))


def test_a_changed_bit_in_the_arrays_of_a_work_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.part"
    content = dump_arrays({"a": np.arange(4)}, {"told": [1]})
    path.write_bytes(content)
    arrays, about = read_arrays(path, refusal=ResumeError)
    assert arrays["a"].tolist() == [0, 1, 2, 3]
    assert about["told"] == [1]
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ResumeError, match=r"x\.part: is not what was written"):
        read_arrays(path, refusal=ResumeError)


def test_a_message_without_the_name_of_the_file_gets_it() -> None:
    with pytest.raises(ResumeError, match=r"^a\.json: rate is 0$"), refusing("a.json", ResumeError):
        raise ConfigError("rate is 0")
    with pytest.raises(ResumeError, match=r"^a\.json: rate is 0$"), refusing("a.json", ResumeError):
        raise ConfigError("a.json: rate is 0")
