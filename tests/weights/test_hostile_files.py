"""Files made to harm: each is refused in one line that names it, soon, in little memory; nothing else is touched."""

import contextlib
import gzip
import json
import os
import pickle
import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tests.weights.making import CONFIGS, make_model

from elmo.disk.guarded.archives import gunzip
from elmo.disk.guarded.plainfiles import parse_json
from elmo.errors import ElmoError, WeightsError
from elmo.text.vocabulary import read_vocabulary
from elmo.weights import zipped
from elmo.weights.formats import read_model, write_model
from elmo.weights.guarded.arrayfile import read_header
from elmo.weights.guarded.pickles import read_state_dict

GOLDEN = Path(__file__).parents[1] / "golden" / "efml" / "cnn_elmo"
MOST_SECONDS = 10.0
MOST_BYTES = 300 << 20
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def _peak() -> int:
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@contextlib.contextmanager
def refused(message: str, *, naming: Path | None = None) -> Iterator[None]:
    """The block is refused with one line, within bounds of time and memory."""
    start, peak = time.process_time(), _peak()
    with pytest.raises(WeightsError, match=message) as caught:
        yield
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert naming is None or str(naming) in str(caught.value)
    assert time.process_time() - start < MOST_SECONDS  # of the processor: others may be busy
    assert _peak() - peak < MOST_BYTES


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.bin"
    path.write_bytes(np.full(261 * 4, 42.0, "f4").tobytes())
    return path


# HDF5


def _soft(file: h5py.File, name: str, _: Path) -> None:
    file["elsewhere"] = np.zeros((261, 4), "f4")
    file[name] = h5py.SoftLink("/elsewhere")


def _external_link(file: h5py.File, name: str, secret: Path) -> None:
    with h5py.File(secret.with_suffix(".hdf5"), "w") as other:
        other["data"] = np.zeros((261, 4), "f4")
    file[name] = h5py.ExternalLink(str(secret.with_suffix(".hdf5")), "/data")


def _external_storage(file: h5py.File, name: str, secret: Path) -> None:
    file.create_dataset(name, (261, 4), "f4", external=[(str(secret), 0, 261 * 16)])


def _virtual(file: h5py.File, name: str, secret: Path) -> None:
    with h5py.File(secret.with_suffix(".hdf5"), "w") as other:
        other["data"] = np.zeros((261, 4), "f4")
    layout = h5py.VirtualLayout((261, 4), "f4")
    layout[...] = h5py.VirtualSource(str(secret.with_suffix(".hdf5")), "data", (261, 4))
    file.create_virtual_dataset(name, layout)


def _group(file: h5py.File, name: str, _: Path) -> None:
    file.create_group(name)


def _named_type(file: h5py.File, name: str, _: Path) -> None:
    file[name] = np.dtype("f4")


def _never_written(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (261, 4), "f4")


def _missing_chunks(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (261, 4), "f4", chunks=(100, 4))[:100] = 1.0


def _forty_gigabytes(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (10**10,), "f4")


def _forty_compressed_gigabytes(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (10**10,), "f4", compression="gzip")


def _huge_chunks(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (261, 4), "f4", chunks=(10**6, 4), maxshape=(None, 4))[...] = 1.0


def _bomb_in_a_chunk(file: h5py.File, name: str, _: Path) -> None:
    dataset = file.create_dataset(name, (261, 4), "f4", chunks=(261, 4), compression="gzip")
    packer = zlib.compressobj(9)
    dataset.id.write_direct_chunk((0, 0), packer.compress(bytes(4_000_000)) + packer.flush())


def _long_chunk(file: h5py.File, name: str, _: Path) -> None:
    dataset = file.create_dataset(name, (261, 4), "f4", chunks=(261, 4), compression="gzip")
    dataset.id.write_direct_chunk((0, 0), os.urandom(1_000_000))


def _garbage_in_a_chunk(file: h5py.File, name: str, _: Path) -> None:
    dataset = file.create_dataset(name, (261, 4), "f4", chunks=(261, 4), compression="gzip")
    dataset.id.write_direct_chunk((0, 0), b"not deflated")


def _scale_offset(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, data=np.zeros((261, 4), "f4"), scaleoffset=2, chunks=(261, 4))


def _lzf(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, data=np.zeros((261, 4), "f4"), compression="lzf")


def _strings(file: h5py.File, name: str, _: Path) -> None:
    file[name] = np.full((261, 4), b"x")


def _integers(file: h5py.File, name: str, _: Path) -> None:
    file[name] = np.zeros((261, 4), "i4")


def _compound(file: h5py.File, name: str, _: Path) -> None:
    file[name] = np.zeros((261, 4), [("a", "f4"), ("b", "f4")])


def _complex(file: h5py.File, name: str, _: Path) -> None:
    file[name] = np.zeros((261, 4), "c8")


def _references(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (261, 4), h5py.ref_dtype)


def _long_strings(file: h5py.File, name: str, _: Path) -> None:
    file.create_dataset(name, (261, 4), h5py.string_dtype())


def _scalar(file: h5py.File, name: str, _: Path) -> None:
    file[name] = 1.0


def _empty(file: h5py.File, name: str, _: Path) -> None:
    file[name] = h5py.Empty("f4")


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        (_soft, "found a soft or external link"),
        (_external_link, "found a soft or external link"),
        (_external_storage, "lie in another file"),
        (_virtual, "lie in another file"),
        (_group, "found a Group, but a dataset"),
        (_named_type, "found a Datatype, but a dataset"),
        (_never_written, "holds 0 bytes, but 4,176 are wanted"),
        (_missing_chunks, "holds 1 chunks, but 3 are wanted"),
        (_forty_gigabytes, r"found shape \(10000000000,\), but \(261, 4\)"),
        (_forty_compressed_gigabytes, r"found shape \(10000000000,\)"),
        (_huge_chunks, "found chunks of 16,000,000 bytes"),
        (_bomb_in_a_chunk, "found a chunk of 4,181 bytes, but 4,176"),
        (_long_chunk, "found a chunk of 1,000,000 bytes"),
        (_garbage_in_a_chunk, "cannot be read"),
        (_scale_offset, "found filter 6"),
        (_lzf, "found filter 32000"),
        (_strings, "found type"),
        (_integers, "found type 'int32'"),
        (_compound, "found type"),
        (_complex, "found type"),
        (_references, "found type"),
        (_long_strings, "found type"),
        (_scalar, r"found shape \(\)"),
        (_empty, "found shape None"),
    ],
)
def test_a_dataset_made_to_harm_is_refused(attack, message, checkpoint, secret):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        del file["char_embed"]
        attack(file, "char_embed", secret)
    with refused(f"weights.hdf5: char_embed: .*{message}|weights.hdf5: char_embed: {message}", naming=checkpoint):
        read_model(checkpoint)


@pytest.mark.parametrize("link", ["soft", "external"])
def test_a_group_that_is_a_link_is_refused(link, checkpoint, secret):
    with h5py.File(checkpoint / "weights.hdf5", "a") as file:
        file.move("CNN", "moved")
        if link == "soft":
            file["CNN"] = h5py.SoftLink("/moved")
        else:
            with h5py.File(secret.with_suffix(".hdf5"), "w") as other:
                file.copy("moved", other, "CNN")
            file["CNN"] = h5py.ExternalLink(str(secret.with_suffix(".hdf5")), "/CNN")
    with refused("CNN: found a soft or external link", naming=checkpoint):
        read_model(checkpoint)


def test_the_embedding_file_of_words_is_held_to_the_same_rules(tmp_path):
    write_model(make_model(CONFIGS["words"]), tmp_path / "hdf5", format="bilm-tf")
    with h5py.File(tmp_path / "hdf5" / "weights.hdf5", "a") as file:
        del file["embedding"]
        file.create_dataset("embedding", (10**8, 8), "f4")
    with refused("embedding: found 100,000,000 rows, but the vocabulary has 7 words"):
        read_model(tmp_path / "hdf5")


@pytest.mark.parametrize("length", [0, 1, 8, 100, 2000, -1, -1000])
def test_a_truncated_hdf5_file_is_refused(length, checkpoint):
    path = checkpoint / "weights.hdf5"
    path.write_bytes(path.read_bytes()[:length])
    with refused("weights.hdf5", naming=checkpoint):
        read_model(checkpoint)


# safetensors


def _header(values: object, data: bytes = b"") -> bytes:
    raw = values if isinstance(values, bytes) else json.dumps(values).encode()
    return struct.pack("<Q", len(raw)) + raw + data


def _entry(dtype: object = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the header has 0 bytes"),
        (b"\x00" * 7, "the header has"),
        (struct.pack("<Q", 2**63), "the header has 9,223,372,036,854,775,808 bytes"),
        (struct.pack("<Q", 1 << 30) + b"{" * 100, "the header has 1,073,741,824 bytes"),
        (_header(b"{" * 2_000_000), "the header has 2,000,008|the header has 2,000,000"),
        (_header(b"[]"), "found list, but an object"),
        (_header(b"{nonsense"), "is not JSON"),
        (_header(b"\xff\xfe{}"), "is not UTF-8"),
        (_header(b'{"a": ' * 5000 + b"1" + b"}" * 5000), "nested"),
        (_header({"a": 1}), "'a': found 1, but dtype"),
        (_header({"a": {"dtype": "F32"}}), "but dtype, shape and data_offsets"),
        (_header({"a": _entry("I64")}, bytes(8)), "dtype is 'I64', but one of F32"),
        (_header({"a": _entry(["F32"])}, bytes(8)), r"dtype is \['F32'\]"),
        (_header({"a": _entry(shape=[-2])}, bytes(8)), r"shape is \[-2\]"),
        (_header({"a": _entry(shape=["2"])}, bytes(8)), "shape is"),
        (_header({"a": _entry(shape=[True, 2])}, bytes(8)), "shape is"),
        (_header({"a": _entry(shape=[2**40, 2**40])}, bytes(8)), "has 8 bytes, but"),
        (_header({"a": _entry(shape=[1] * 100)}, bytes(8)), "shape is"),
        (_header({"a": _entry(offsets=[0])}, bytes(8)), "data_offsets is"),
        (_header({"a": _entry(offsets=[8, 0])}, bytes(8)), "has -8 bytes, but 8"),
        (_header({"a": _entry(offsets=[4, 12])}, bytes(12)), "begins at byte 4, but 0"),
        (_header({"a": _entry(), "b": _entry()}, bytes(8)), "begins at byte 0, but 8"),
        (_header({"a": _entry()}, bytes(4)), "has 4 bytes of tensors, but 8"),
        (_header({"a": _entry()}, bytes(12)), "has 12 bytes of tensors, but 8"),
        (
            _header({"a": _entry(shape=[10**10], offsets=[0, 4 * 10**10])}, bytes(8)),
            "has 8 bytes of tensors, but 40,000",
        ),
    ],
)
def test_a_safetensors_file_made_to_harm_is_refused(content, message, native):
    (native / "model.safetensors").write_bytes(content)
    with refused(message, naming=native / "model.safetensors"):
        read_header(native / "model.safetensors")
    with refused("model.safetensors"):
        read_model(native)


def test_tensors_that_the_model_does_not_have_are_refused(native):
    save_file({"tokens.weight": torch.zeros(3), "x" * 5000: torch.zeros(1)}, native / "model.safetensors")
    with refused("is not a tensor of this model", naming=native):
        read_model(native)


@pytest.mark.parametrize("length", [4, 100, 2000, -1])
def test_a_truncated_safetensors_file_is_refused(length, native):
    path = native / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    with refused("model.safetensors", naming=native):
        read_model(native)


# JSON


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"null", "found NoneType"),
        (b"[1, 2]", "found list"),
        (b'"options"', "found str"),
        (b"[" * 100_000, "nested too deeply|is not JSON"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested more than 32 deep"),
        (b" " * (2 << 20), "at most 1,048,576"),
        (b'{"lstm": NaN}', "NaN is not a number"),
        (b'{"lstm": 1e999}', "1e999 is not a number"),
        (b'{"lstm": ' + b"9" * 5000 + b"}", "is not a number"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
        (b'{"lstm": {"dim": 1e3}, "char_cnn": {}}', "dim is 1000.0, but an integer"),
        (b'{"lstm": {"dim": 16}}', "char_cnn is missing, and .* no dataset 'embedding'"),
    ],
)
@pytest.mark.parametrize("kind", ["options.json", "config.json"])
def test_json_made_to_harm_is_refused(content, message, kind, checkpoint, native):
    directory = checkpoint if kind == "options.json" else native
    (directory / kind).write_bytes(content)
    with refused(".", naming=directory):
        read_model(directory)
    if kind == "options.json":
        with refused(message):
            read_model(directory)


def test_an_architecture_cannot_ask_for_more_than_any_model_needs(native):
    values = json.loads((native / "config.json").read_text(encoding="utf-8"))
    for key, value in (
        ("cell_clip", 1e300),
        ("layers", 10**9),
        ("cell_dim", 10**18),
        ("input_dim", 10**15),
        ("projection_dim", 10**15),
    ):
        changed = json.loads(json.dumps(values))
        changed["architecture"]["lstm"][key] = value
        if key in ("input_dim", "projection_dim"):
            changed["architecture"]["lstm"] |= {"input_dim": value, "projection_dim": value}
            changed["architecture"]["tokens"]["output_dim"] = value
        (native / "config.json").write_text(json.dumps(changed), encoding="utf-8")
        with refused("at most", naming=native):
            read_model(native)


def test_many_numbers_that_each_are_allowed_are_refused_together(native):
    values = json.loads((native / "config.json").read_text(encoding="utf-8"))
    values["architecture"]["lstm"] |= {"layers": 64, "cell_dim": 1 << 20}
    (native / "config.json").write_text(json.dumps(values), encoding="utf-8")
    with refused("the model has .* numbers, but at most", naming=native):
        read_model(native)


def test_a_byte_order_mark_is_harmless():
    assert parse_json(b'\xef\xbb\xbf{"a": 1}', where="x") == {"a": 1}


# links and odd files


@posix
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt", "README.md"])
def test_a_link_out_of_a_model_directory_is_refused(name, native, tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes((native / name).read_bytes())
    (native / name).unlink()
    (native / name).symlink_to(outside)
    with pytest.raises(WeightsError):
        read_model(native)


@posix
@pytest.mark.parametrize("name", ["options.json", "weights.hdf5"])
def test_a_link_out_of_a_checkpoint_directory_is_refused(name, checkpoint, tmp_path):
    (checkpoint / name).rename(tmp_path / name)
    (checkpoint / name).symlink_to(tmp_path / name)
    with refused(f"{name}: is a link to .*, outside its directory", naming=checkpoint):
        read_model(checkpoint)


@posix
def test_links_inside_a_directory_and_those_of_hugging_faces_cache_are_followed(native, tmp_path):
    (native / "model.safetensors").rename(native / "blob")
    (native / "model.safetensors").symlink_to("blob")
    wanted = make_model(CONFIGS["words"]).sha256
    assert read_model(native).sha256 == wanted
    hub = tmp_path / "models--me--elmo"
    (hub / "blobs").mkdir(parents=True)
    snapshot = hub / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for file in native.iterdir():
        if not file.is_symlink():
            (hub / "blobs" / f"hash-{file.name}").write_bytes(file.read_bytes())
            name = "model.safetensors" if file.name == "blob" else file.name
            (snapshot / name).symlink_to(f"../../blobs/hash-{file.name}")
    assert read_model(snapshot).sha256 == wanted


@posix
@pytest.mark.parametrize("name", ["options.json", "weights.hdf5"])
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(name, checkpoint):
    (checkpoint / name).unlink()
    os.mkfifo(checkpoint / name)
    with refused("is not a regular file", naming=checkpoint / name):
        read_model(checkpoint)


@posix
def test_a_device_is_not_read():
    for device in ("/dev/zero", "/dev/null"):
        with refused("is not a regular file"):
            read_model(Path(device))


def test_a_directory_in_place_of_a_file_is_refused(checkpoint):
    (checkpoint / "options.json").unlink()
    (checkpoint / "options.json").mkdir()
    with refused("is not a regular file", naming=checkpoint):
        read_model(checkpoint)


@pytest.mark.parametrize("name", ["bad\0name", "x" * 5000])
def test_a_name_that_no_file_can_have_is_refused(name):
    with pytest.raises(ElmoError):
        read_model(name)
    with pytest.raises(ElmoError):
        read_model(Path(name))


# vocabularies


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\n", b"<S>\n", b"the\nof\n", b"<S>\n</S>\n<UNK>\n" + b"\n" * 17_000_000, b"a" * (65 << 20)],
    ids=["empty", "not UTF-8", "short", "no specials", "millions of lines", "one long line"],
)
def test_a_vocabulary_made_to_harm_is_refused(content, tmp_path):
    (tmp_path / "vocab.txt").write_bytes(content)
    with refused("vocab.txt", naming=tmp_path):
        read_vocabulary(tmp_path / "vocab.txt")


# archives


def _pack(path: Path, files: dict[str, bytes], *, how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def _nlpl(checkpoint: Path) -> dict[str, bytes]:
    return {
        "model.hdf5": (checkpoint / "weights.hdf5").read_bytes(),
        "options.json": (checkpoint / "options.json").read_bytes(),
    }


def test_names_that_lead_out_of_an_archive_lead_nowhere(checkpoint, tmp_path):
    files = _nlpl(checkpoint) | {
        "../../evil.txt": b"x",
        "/tmp/elmo-evil.txt": b"x",
        "..\\..\\vocab.txt": b"<S>\n</S>\n<UNK>\n",
    }
    (tmp_path / "in").mkdir()
    before = set(tmp_path.rglob("*"))
    model = read_model(_pack(tmp_path / "in" / "1.zip", files))
    assert model.sha256 == make_model().sha256
    assert set(tmp_path.rglob("*")) - before == {tmp_path / "in" / "1.zip"}
    assert not Path("/tmp/elmo-evil.txt").exists()


@pytest.mark.parametrize("name", ["model.hdf5", "options.json", "vocab.txt", "vocab.txt.gz"])
def test_a_bomb_in_an_archive_is_refused_before_it_is_unpacked(name, checkpoint, tmp_path):
    path = tmp_path / "1.zip"
    files = _nlpl(checkpoint)
    files.pop(name, None)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for other, content in files.items():
            archive.writestr(other, content)
        with archive.open(name, "w") as file:
            for _ in range(40):
                file.write(bytes(1 << 20))
    with refused(f"{name}: unpacks to 41,943,040 bytes, but at most", naming=path):
        read_model(path)


def test_a_bomb_inside_a_compressed_vocabulary_is_refused(checkpoint, tmp_path, monkeypatch):
    monkeypatch.setattr(zipped, "MOST_VOCABULARY_BYTES", 1 << 20)
    packed = gzip.compress(b"\n" * (2 << 20))
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint) | {"vocab.txt.gz": packed})
    with refused("vocab.txt.gz: unpacks to more than 1,048,576 bytes", naming=path):
        read_model(path)
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8b garbage")
    with refused("cannot be unpacked"):
        gunzip(tmp_path / "x.gz", tmp_path / "y", most_bytes=10)


def test_a_size_that_is_a_lie_is_found_out(checkpoint, tmp_path):
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint))
    raw = bytearray(path.read_bytes())
    for marker, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = raw.find(marker)
        raw[place + offset : place + offset + 4] = struct.pack("<I", 100)
    path.write_bytes(raw)
    with refused("model.hdf5", naming=path):
        read_model(path)


def test_a_file_without_a_name_is_passed_over(checkpoint, tmp_path):
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint) | {"Qx.txt": b"", "a/": b""})
    path.write_bytes(path.read_bytes().replace(b"Qx.txt", b"\0x.txt"))
    assert read_model(path).sha256 == make_model().sha256


def test_an_archive_with_too_many_files_is_refused(checkpoint, tmp_path):
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint) | {f"{n}.txt": b"" for n in range(1001)})
    with refused("directory of 1003 files", naming=path):
        read_model(path)


def test_an_archive_with_an_endless_directory_is_refused_before_it_is_read(checkpoint, tmp_path):
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint))
    raw = bytearray(path.read_bytes())
    place = raw.rfind(b"PK\x05\x06")
    raw[place + 12 : place + 16] = struct.pack("<I", 0xFFFFFFF0)
    path.write_bytes(raw)
    with refused("in 4,294,967,280 bytes", naming=path):
        read_model(path)


def test_an_encrypted_archive_is_refused(checkpoint, tmp_path):
    path = _pack(tmp_path / "1.zip", _nlpl(checkpoint))
    raw = bytearray(path.read_bytes())
    for marker, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = raw.find(marker)
        while place >= 0:
            raw[place + offset] |= 1
            place = raw.find(marker, place + 1)
    path.write_bytes(raw)
    with refused("is encrypted", naming=path):
        read_model(path)


# pickles


class _Runs:
    """Unpickling this creates a file, if it is ever done in the ordinary way."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self._path),)


@pytest.mark.parametrize("new_form", [True, False])
def test_a_pickle_with_code_is_refused_and_its_code_not_run(new_form, tmp_path):
    trap, path = tmp_path / "trap", tmp_path / "encoder.pkl"
    torch.save({"weight": torch.zeros(2), "x": _Runs(trap)}, path, _use_new_zipfile_serialization=new_form)
    with refused("names '(posix|nt) mkdir', which weights do not need", naming=path):
        read_state_dict(path)
    path.write_bytes(pickle.dumps(_Runs(trap), protocol=2))
    with refused("which weights do not need", naming=path):
        read_state_dict(path)
    assert not trap.exists()


@pytest.mark.parametrize(
    "value",
    [bytearray(10), {1, 2}, torch.Size([1]), torch.float32, torch.nn.Linear(2, 2), complex(1, 2)],
    ids=["bytearray", "set", "size", "dtype", "module", "complex"],
)
def test_a_pickle_with_more_than_tensors_is_refused_even_where_torch_would_load_it(value, tmp_path):
    torch.save({"weight": value}, tmp_path / "encoder.pkl")
    with refused("which weights do not need", naming=tmp_path):
        read_state_dict(tmp_path / "encoder.pkl")


def _opcodes(*parts: bytes) -> bytes:
    return b"\x80\x02" + b"".join(parts) + b"."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_opcodes(b"cbuiltins\nbytearray\n", b"\x8a\x05\x00\x00\x00\x00\x17", b"\x85R"), "names 'builtins bytearray'"),
        (_opcodes(b"ctorch\nTensor\n", b"J\xff\xff\xff\x7f", b"\x85R"), "names 'torch Tensor'"),
        (_opcodes(b"cos\nsystem\n"), "names 'os system'"),
        (_opcodes(b"\x8c\x02os\x8c\x06system\x93"), "names 'STACK_GLOBAL'"),
        (b"\x80\x05.", "protocol 5, but 2"),
        (_opcodes(b"\x82\x01"), "names 1, which|names 'EXT1'"),
        (_opcodes(b"X\xff\xff\xff\x7f"), "is not a pickle of weights"),
        (b"\x80\x02" + b"]" * 300_000 + b".", "more than 200,000 opcodes"),
        (b"garbage", "is not a pickle of weights"),
        (b"", "is not a pickle of weights"),
    ],
)
def test_opcodes_made_to_harm_are_refused_unrun(content, message, tmp_path):
    (tmp_path / "encoder.pkl").write_bytes(content)
    with refused(message, naming=tmp_path):
        read_state_dict(tmp_path / "encoder.pkl")


def test_a_pickle_that_asks_for_more_numbers_than_its_file_can_hold_is_refused(tmp_path):
    path = tmp_path / "encoder.pkl"
    torch.save({"weight": torch.zeros(77_777)}, path, _use_new_zipfile_serialization=False)
    raw = path.read_bytes()
    number = struct.pack("<I", 77_777)[:4]
    assert number in raw
    path.write_bytes(raw.replace(b"J" + number, b"J" + struct.pack("<I", 2_000_000_000)))
    with refused("asks for 2000000000 numbers", naming=path):
        read_state_dict(path)


def test_a_compressed_pickle_archive_is_refused(tmp_path):
    torch.save({"weight": torch.zeros(1000)}, tmp_path / "a.pkl")
    with zipfile.ZipFile(tmp_path / "a.pkl") as source:
        files = {name: source.read(name) for name in source.namelist()}
    _pack(tmp_path / "encoder.pkl", files)
    with refused("is a compressed archive", naming=tmp_path):
        read_state_dict(tmp_path / "encoder.pkl")


def test_a_pickle_of_something_else_is_refused(tmp_path):
    for value, message in ((torch.zeros(2), "found Tensor"), ([1], "found list"), ({"a": 1}, "'a': found int")):
        torch.save(value, tmp_path / "encoder.pkl")
        with refused(message, naming=tmp_path):
            read_state_dict(tmp_path / "encoder.pkl")


def test_nothing_but_the_safe_loader_reads_pickles():
    sources = Path(read_state_dict.__code__.co_filename).parents[1].rglob("*.py")
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert "weights_only=False" not in text, path
        assert "pickle.load" not in text, path
        assert "allow_pickle=True" not in text, path
        assert text.count("torch.load(") == text.count("weights_only=True)"), path
