"""Lines of text files: numbered, strict, in bounded memory, from whatever the file is packed in."""

import gzip
import io
import lzma
import random
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import InputError, MissingExtraError
from elmo.text.lines import _whole_lines, expand_paths, read_lines

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,  # as the program `zstd` does
}


@pytest.fixture(params=PACK, ids=lambda suffix: suffix or "plain")
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(folder: Path, suffix: str, data: bytes) -> Path:
    path = folder / f"text.txt{suffix}"
    path.write_bytes(PACK[suffix](data))
    return path


def lines(path: Path | str, **options: int) -> list[str]:
    numbered = list(read_lines(path, **options))
    assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1))
    return [line for _, line in numbered]


def test_lines_are_read_from_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    assert lines(make(tmp_path, suffix, "one\n\n three ü\r\nfour".encode())) == ["one", "", " three ü", "four"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"a", ["a"]),
        (b"a\r\n", ["a"]),
        (b"a\r\r\nb\rc", ["a\r", "b\rc"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        ("a\u2028b\x85c\x0bd\x1ce".encode(), ["a\u2028b\x85c\x0bd\x1ce"]),
        (b"a\0b\n", ["a\0b"]),
    ],
)
def test_only_line_feeds_end_lines_and_one_mark_is_dropped(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    assert lines(make(tmp_path, "", data)) == expected


@given(st.lists(st.text(alphabet=st.sampled_from("ab\ré\U0001f600\u2028\ufeff"), max_size=9)), st.integers(1, 9))
@settings(max_examples=80)
def test_where_blocks_end_does_not_matter(written: list[str], block: int) -> None:
    data = "".join(f"{line}\n" for line in written)
    blocks = [data.encode()[i : i + block] for i in range(0, len(data.encode()), block)]
    whole = list(_whole_lines("x", iter(blocks), longest=1 << 20))
    assert "".join(f"{part.decode()}\n" for part in whole) == data


@pytest.mark.parametrize("before", [0, 3, 200_000])
def test_bytes_that_are_not_utf8_are_named_with_file_and_line(tmp_path: Path, suffix: str, before: int) -> None:
    path = make(tmp_path, suffix, b"some line\n" * before + b"caf\xe9\n" + b"more\n" * 10)
    with pytest.raises(
        InputError, match=rf"text\.txt{suffix}: line {before + 1} is not UTF-8: byte 0xe9 at position 4"
    ):
        lines(path)


def test_lines_before_a_fault_in_another_block_are_given(tmp_path: Path) -> None:
    stream = read_lines(make(tmp_path, "", b"good\n" * 500_000 + b"\xff\n"))
    assert next(stream) == (1, "good")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_called_by_its_name(tmp_path: Path, encoding: str) -> None:
    data = "\ufeffHello\n".encode(encoding) if encoding.endswith("be") else "Hello\n".encode(encoding)
    with pytest.raises(InputError, match="this is UTF-16, not UTF-8"):
        lines(make(tmp_path, "", data))


@pytest.mark.parametrize("longest", [10, 100, 1 << 20])
def test_a_line_over_the_limit_is_named_and_one_at_the_limit_is_read(tmp_path: Path, suffix: str, longest: int) -> None:
    assert lines(make(tmp_path, suffix, b"ok\n" + b"x" * longest + b"\nok"), longest=longest)[2] == "ok"
    with pytest.raises(InputError, match=rf"text\.txt{suffix}: line 3 is longer than {longest:,} bytes"):
        lines(make(tmp_path, suffix, b"ok\n\n" + b"x" * (longest + 1) + b"\n"), longest=longest)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
def test_a_bomb_of_one_line_is_refused_in_bounded_memory(tmp_path: Path, suffix: str) -> None:
    path = make(tmp_path, suffix, b"x" * (64 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="line 1 is longer than"):
            lines(path, longest=2 << 20)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign"])
def test_damaged_compressed_data_names_the_file(tmp_path: Path, suffix: str, damage: str) -> None:
    path = make(tmp_path, suffix, random.Random(0).randbytes(1000).hex().encode() * 50)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        data = data[: len(data) * 2 // 3]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0xFF
        data[len(data) // 2 + 1] ^= 0xFF
    else:
        data = bytearray(b"this is plain text\n")
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"text\.txt{suffix}: damaged or cut short"):
        lines(path)


def test_files_of_several_parts_are_read_to_their_end(tmp_path: Path, suffix: str) -> None:
    path = make(tmp_path, suffix, b"one\ntw")
    path.write_bytes(path.read_bytes() + PACK[suffix](b"o\nthree"))
    assert lines(path) == ["one", "two", "three"]


def test_a_missing_zstandard_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path, ".zst", b"one\n")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"text\.txt\.zst: .*pip install zstandard"):
        lines(path)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("ä\nb".encode()), encoding="ascii"))
    assert lines("-") == ["ä", "b"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read"):
        lines(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read"):
        lines(tmp_path)


def test_a_directory_stands_for_its_files_in_order(tmp_path: Path) -> None:
    for name in ["b.txt", "a/z.txt", "a/b/c.gz", "a.txt", ".hidden", ".git/config", "a/.swp"]:
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    single = tmp_path / "single.txt"
    single.touch()
    corpus = tmp_path / "corpus"
    assert expand_paths([single, corpus, "-"]) == [
        str(single),
        *(str(corpus / name) for name in ["a/b/c.gz", "a/z.txt", "a.txt", "b.txt"]),
        "-",
    ]


def test_paths_that_stand_for_nothing_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such file or directory"):
        expand_paths([tmp_path / "none"])
    (tmp_path / ".hidden").touch()
    with pytest.raises(InputError, match="no files in this directory"):
        expand_paths([tmp_path])
