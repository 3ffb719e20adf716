"""An interrupted build goes on where it was, gives the same bytes, and refuses what does not belong to it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus.reference import file_contents, make_text

from elmo.corpus import Moment, build_corpus, firstpass
from elmo.corpus.worker import handle
from elmo.errors import ResumeError

OPTIONS = {"tokenized": True, "documents": "blank-lines", "block_bytes": 1000}


class Interrupted(BaseException):
    """Stands for Ctrl-C at a known moment."""


def quiet(progress: Moment) -> None:
    pass


@pytest.fixture
def handled(monkeypatch) -> list[str]:
    """The blocks that were made in this process, by name."""
    names: list[str] = []

    def counting(task, text):
        names.append(Path(task["path"]).stem)
        return handle(task, text)

    monkeypatch.setattr(firstpass, "handle", counting)
    return names


def interrupt_after(blocks: int):
    def tell(_: Moment) -> None:
        nonlocal blocks
        blocks -= 1
        if blocks == 0:
            raise Interrupted

    return tell


def interrupted_build(tmp_path: Path, *, blocks: int, **options) -> Path:
    file = tmp_path / "text"
    file.write_text(make_text(300), encoding="utf-8")
    with pytest.raises(Interrupted):
        build_corpus([file], tmp_path / "store", workers=1, progress=interrupt_after(blocks), **{**OPTIONS, **options})
    assert not (tmp_path / "store").exists()
    return file


def test_finished_blocks_are_not_made_again(tmp_path: Path, handled: list[str]) -> None:
    file = interrupted_build(tmp_path, blocks=5)
    first = list(handled)
    assert 5 <= len(first) < 10
    handled.clear()
    store = build_corpus([file], tmp_path / "store", workers=1, resume=True, progress=quiet, **OPTIONS)
    assert handled
    assert not set(handled) & set(first)
    straight = build_corpus([file], tmp_path / "straight", workers=1, progress=quiet, **OPTIONS)
    assert file_contents(store.folder) == file_contents(straight.folder)
    assert not (tmp_path / "store.building").exists()


def test_a_damaged_block_is_made_again(tmp_path: Path, handled: list[str]) -> None:
    file = interrupted_build(tmp_path, blocks=5)
    blocks = sorted((tmp_path / "store.building" / "blocks").iterdir())
    blocks[1].write_bytes(blocks[1].read_bytes()[:100])
    blocks[2].write_bytes(b"")
    handled.clear()
    store = build_corpus([file], tmp_path / "store", workers=1, resume=True, progress=quiet, **OPTIONS)
    assert handled[:2] == ["000001", "000002"]
    straight = build_corpus([file], tmp_path / "straight", workers=1, progress=quiet, **OPTIONS)
    assert file_contents(store.folder) == file_contents(straight.folder)


def test_the_work_is_no_input_of_its_own(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "text").write_text(make_text(300), encoding="utf-8")
    with pytest.raises(Interrupted):
        build_corpus(texts, texts / "store", workers=1, progress=interrupt_after(5), **OPTIONS)
    for _ in range(2):  # while it is unfinished, and when it is there
        store = build_corpus(texts, texts / "store", resume=True, progress=quiet, **OPTIONS)
        assert store.manifest["inputs"] == [str(texts / "text")]


def test_without_resume_the_work_begins_anew(tmp_path: Path, handled: list[str]) -> None:
    file = interrupted_build(tmp_path, blocks=5)
    file.write_text(make_text(50, seed=9), encoding="utf-8")
    handled.clear()
    store = build_corpus([file], tmp_path / "store", workers=1, progress=quiet, **OPTIONS)
    assert handled[0] == "000000"
    straight = build_corpus([file], tmp_path / "straight", workers=1, progress=quiet, **OPTIONS)
    assert file_contents(store.folder) == file_contents(straight.folder)


def test_resume_with_nothing_to_resume_begins(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(make_text(50), encoding="utf-8")
    store = build_corpus([tmp_path / "text"], tmp_path / "store", resume=True, **OPTIONS)
    store.verify()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 1}, "seed"),
        ({"documents": "lines"}, r"options\.documents"),
        ({"tokenizer": "unicode"}, r"tokenizer\.rule"),
        ({"block_bytes": 999}, "block_bytes"),
    ],
    ids=str,
)
def test_changed_options_are_refused_by_name(tmp_path: Path, changed, named) -> None:
    file = interrupted_build(tmp_path, blocks=3)
    before = file_contents(tmp_path / "store.building" / "blocks")
    with pytest.raises(ResumeError, match=rf"store\.building: ({named}) was .* and is .* now; resume with"):
        build_corpus([file], tmp_path / "store", resume=True, **{**OPTIONS, **changed})
    assert file_contents(tmp_path / "store.building" / "blocks") == before


def test_another_vocabulary_may_be_chosen_of_the_finished_blocks(tmp_path: Path) -> None:
    file = interrupted_build(tmp_path, blocks=3)
    limits = {"min_count": 1, "vocabulary_size": 20}
    resumed = build_corpus([file], tmp_path / "store", resume=True, **{**OPTIONS, **limits})
    straight = build_corpus([file], tmp_path / "straight", **{**OPTIONS, **limits})
    assert file_contents(resumed.folder) == file_contents(straight.folder)


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = interrupted_build(tmp_path, blocks=3)
    other = tmp_path / "other"
    other.write_text("a b\n", encoding="utf-8")
    with pytest.raises(ResumeError, match=r"inputs had None where there is .*other"):
        build_corpus([file, other], tmp_path / "store", resume=True, **OPTIONS)


def test_changed_text_is_refused_with_its_line(tmp_path: Path) -> None:
    file = interrupted_build(tmp_path, blocks=5)
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[40] = "something else entirely"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"text: the text from line \d+ on is not what it was") as caught:
        build_corpus([file], tmp_path / "store", resume=True, **OPTIONS)
    line = int(str(caught.value).split("from line ")[1].split()[0])
    assert 1 < line <= 41
    assert not (tmp_path / "store").exists()


def test_a_text_cut_short_at_a_block_is_refused(tmp_path: Path) -> None:
    interrupted_build(tmp_path, blocks=5)
    blocks = sorted((tmp_path / "store.building" / "blocks").iterdir())
    file = tmp_path / "text"
    # The text of the first two blocks, cut as the builder cuts it.
    lines = file.read_text(encoding="utf-8").split("\n")
    kept: list[str] = []
    for _ in range(2):
        size = 0
        while size < OPTIONS["block_bytes"]:
            line = lines.pop(0)
            kept.append(line)
            size += len(line) + 1
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    assert len(blocks) > 2
    with pytest.raises(ResumeError, match="more finished text than the inputs have"):
        build_corpus([file], tmp_path / "store", resume=True, **OPTIONS)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal as a POSIX terminal does")
def test_ctrl_c_reaches_the_caller_alone_and_keeps_the_work(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(make_text(2000), encoding="utf-8")
    code = (
        "import os, signal\n"
        "from elmo.corpus import build_corpus\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # tests started in the background ignore it
        "try:\n"
        "    press = lambda progress: os.killpg(0, signal.SIGINT)\n"
        "    build_corpus('text', 'store', tokenized=True, workers=2, block_bytes=1000, progress=press)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, start_new_session=True
    )
    assert ran.stdout == "interrupted\n"
    assert ran.stderr == "finished work is kept in store.building: resume to go on from there, or delete it\n"
    assert any((tmp_path / "store.building" / "blocks").iterdir())
    assert not (tmp_path / "store").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
def test_a_build_killed_at_once_ends_its_workers_and_can_be_resumed(tmp_path: Path, handled: list[str]) -> None:
    file = tmp_path / "text"
    file.write_text(make_text(2000), encoding="utf-8")
    blocks = tmp_path / "store.building" / "blocks"
    code = (
        "import os, pathlib, signal\n"
        "from elmo.corpus import build_corpus\n"
        f"blocks = pathlib.Path('{blocks}')\n"
        "def die(progress):\n"
        "    if len(list(blocks.glob('0*'))) >= 6: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"build_corpus(['{file}'], '{tmp_path / 'store'}', workers=2, progress=die, **{OPTIONS})\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    # The workers have the same standard error, which ends with the last of them.
    assert process.stderr is not None
    process.stderr.read()
    process.stderr.close()
    assert process.wait() == -signal.SIGKILL
    finished = {path.stem for path in blocks.glob("0*")}
    assert len(finished) >= 6
    assert not (tmp_path / "store").exists()

    store = build_corpus([file], tmp_path / "store", workers=1, resume=True, progress=quiet, **OPTIONS)
    assert handled
    assert not finished & set(handled)
    straight = build_corpus([file], tmp_path / "straight", workers=1, progress=quiet, **OPTIONS)
    assert file_contents(store.folder) == file_contents(straight.folder)
