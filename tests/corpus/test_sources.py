"""Sources: order, names, and blocks that hold every line once."""

import gzip
from pathlib import Path

import pytest

from elmo.corpus.sources import find_sources, read_blocks
from elmo.errors import ConfigError


def test_inputs_keep_their_order_and_directories_are_sorted(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for name in ("texts/b", "texts/a", "z", "held"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    sources = find_sources([tmp_path / "z", tmp_path / "texts"], [tmp_path / "held", tmp_path / "texts" / "b"])
    found = [(Path(source.name).name, source.heldout, source.found) for source in sources]
    assert found == [("z", False, False), ("a", False, True), ("b", True, True), ("held", True, False)]
    assert [source.size for source in sources] == [2, 2, 2, 2]


def test_the_same_file_by_another_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n", encoding="utf-8")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ConfigError, match="b: is among the inputs twice"):
        find_sources([tmp_path / "a", tmp_path / "b"], [])


@pytest.mark.parametrize("block_bytes", [1, 7, 50, 10_000])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_blocks_hold_every_line_once_and_know_its_number(tmp_path: Path, block_bytes: int, ending: str) -> None:
    text = "\n".join(f"line {i} " + "x" * (i % 9) for i in range(40)) + ending
    (tmp_path / "text").write_text(text, encoding="utf-8")
    (source,) = find_sources([tmp_path / "text"], [])
    segments = [segment for block in read_blocks([source], block_bytes=block_bytes) for segment in block]
    lines = [line for segment in segments for line in segment.text.split("\n")]
    assert lines == text.removesuffix("\n").split("\n")
    for segment in segments:
        own = segment.text.split("\n")
        assert lines[segment.first_line - 1 :][: len(own)] == own


def test_small_files_share_a_block_and_large_ones_are_cut(tmp_path: Path) -> None:
    for name, lines in (("a", 2), ("b", 3), ("c", 20), ("d", 1)):
        (tmp_path / name).write_text("12345\n" * lines, encoding="utf-8")
    sources = find_sources([tmp_path / name for name in "abcd"], [])
    blocks = list(read_blocks(sources, block_bytes=60))
    shapes = [[(Path(s.source.name).name, s.first_line, s.text.count("\n") + 1) for s in block] for block in blocks]
    assert shapes == [[("a", 1, 2), ("b", 1, 3), ("c", 1, 5)], [("c", 6, 10)], [("c", 16, 5), ("d", 1, 1)]]


def test_the_text_of_a_compressed_file_is_expected_to_be_longer(tmp_path: Path) -> None:
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"x\n"))
    (source,) = find_sources([tmp_path / "text.gz"], [])
    assert source.expected_text is not None
    assert source.expected_text > (tmp_path / "text.gz").stat().st_size
    (standard_input,) = find_sources(["-"], [])
    assert standard_input.expected_text is None
