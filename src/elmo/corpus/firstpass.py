"""The first pass: every block of every file is turned into numbers, by several processes, or found finished on disk."""

import hashlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from elmo.corpus.bar import ProgressCallback, StageClock
from elmo.corpus.block import BlockFacts, SegmentFacts, StoredBlock, read_facts
from elmo.corpus.options import BuildOptions
from elmo.corpus.sources import Segment, TextFile, read_blocks
from elmo.corpus.worker import handle
from elmo.corpus.workers import Answer, ChildProcesses, OwnProcess, Workers
from elmo.disk.workfolder import WorkFolder
from elmo.errors import InputError, ResumeError
from elmo.text.wrapped import Lines

BLOCKS_AHEAD = 2  # for each worker: one in work, one waiting


@dataclass(frozen=True)
class ReadSegment:
    """Some lines of a source that are read."""

    source: TextFile
    facts: SegmentFacts


@dataclass(frozen=True)
class ReadText:
    """All text as numbers."""

    blocks: list[StoredBlock]
    segments: list[ReadSegment]  # of all blocks, in order
    sha256: dict[TextFile, str]  # of the text of each source, as UTF-8 with a line feed after each line or paragraph
    wrapped: set[TextFile]  # whose lines were joined into paragraphs


@dataclass(frozen=True)
class _Begun:
    """A block in work."""

    path: Path
    sources: list[TextFile]
    done: int
    answer: "Future[Answer]"


def read_sources(
    sources: Sequence[TextFile],
    work: WorkFolder,
    options: BuildOptions,
    *,
    workers: int,
    block_bytes: int,
    progress: ProgressCallback,
) -> ReadText:
    """Turn all sources into blocks. An error is the first one in the text, whoever found it."""
    pool: Workers = ChildProcesses(workers) if workers > 1 else OwnProcess(handle)
    try:
        reader = _Reader(sources, work, options, pool, ahead=BLOCKS_AHEAD * workers, progress=progress)
        reader.read(sources, block_bytes=block_bytes, lines=options.lines)
        return ReadText(reader.blocks, reader.segments, reader.sha256(), reader.wrapped)
    finally:
        pool.close()


class _Reader:
    """Hands blocks to workers and takes them back in order."""

    def __init__(
        self,
        sources: Sequence[TextFile],
        work: WorkFolder,
        options: BuildOptions,
        pool: Workers,
        *,
        ahead: int,
        progress: ProgressCallback,
    ) -> None:
        self.blocks: list[StoredBlock] = []
        self.segments: list[ReadSegment] = []
        self.wrapped: set[TextFile] = set()
        self._hashes = {source: hashlib.sha256() for source in sources}
        self._work, self._pool, self._ahead = work, pool, ahead
        self._task = {
            "tokenizer": options.tokenizer.to_dict(),
            "tokenized": options.tokenized,
            "documents": options.documents,
        }
        self._begun: deque[_Begun] = deque()
        self._read = dict.fromkeys(sources, 0)  # bytes of text of each source
        self._whole = 0  # bytes that were expected of the sources that are read to their end
        self._at: TextFile | None = None
        sizes = [source.expected_text for source in sources]
        total = None if None in sizes else sum(size for size in sizes if size is not None)
        self._clock = StageClock("reading", progress, total=total)

    def sha256(self) -> dict[TextFile, str]:
        return {source: digest.hexdigest() for source, digest in self._hashes.items()}

    def read(self, sources: Sequence[TextFile], *, block_bytes: int, lines: Lines) -> None:
        try:
            for block in read_blocks(sources, block_bytes=block_bytes, lines=lines):
                self._begin(block)
                if len(self._begun) >= self._ahead:
                    self._finish_first()
        except InputError:
            self._finish_all()  # an earlier block may have an error, which is then the first
            raise
        self._finish_all()
        if read_facts(self._work.block_path(len(self.blocks))) is not None:
            raise ResumeError(
                f"{self._work.folder}: holds more finished text than the inputs have now; start again without resume"
            )

    def _begin(self, block: list[Segment]) -> None:
        """Give a block to a worker, unless it is finished already."""
        texts = [segment.text.encode("utf-8") for segment in block]
        sources = [segment.source for segment in block]
        self.wrapped.update(segment.source for segment in block if segment.wrapped)
        for source, text in zip(sources, texts, strict=True):
            self._hashes[source].update(text + b"\n")
            self._count(source, len(text))
        done = self._whole + self._read[sources[-1]]
        path = self._work.block_path(len(self.blocks) + len(self._begun))
        sizes = list(map(len, texts))
        whole = b"".join(texts)
        sha256 = hashlib.sha256(repr(sizes).encode("ascii") + whole).hexdigest()
        facts = read_facts(path)
        if facts is None:
            answer = self._pool.submit({**self._task, "path": str(path), "sizes": sizes, "sha256": sha256}, whole)
            self._begun.append(_Begun(path, sources, done, answer))
        elif facts.sha256 == sha256:
            self._finish_all()
            self._add(path, sources, facts)
            self._clock.advance(done=done, words=0)
        else:
            raise ResumeError(
                f"{block[0].source.name}: the text from line {block[0].first_line} on is not what it was when the work "
                f"in {self._work.folder} was done; start again without resume"
            )

    def _count(self, source: TextFile, size: int) -> None:
        if self._at is not None and self._at is not source:
            self._whole += self._at.expected_text or 0
        self._at = source
        self._read[source] += size

    def _finish_first(self) -> None:
        begun = self._begun.popleft()
        facts = BlockFacts.from_json(begun.answer.result()["facts"])
        self._add(begun.path, begun.sources, facts)
        self._clock.advance(done=begun.done, words=facts.words)

    def _finish_all(self) -> None:
        while self._begun:
            self._finish_first()

    def _add(self, path: Path, sources: list[TextFile], facts: BlockFacts) -> None:
        self.blocks.append(StoredBlock(path, facts))
        self.segments += [ReadSegment(*pair) for pair in zip(sources, facts.segments, strict=True)]
