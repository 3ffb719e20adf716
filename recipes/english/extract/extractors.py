"""Which function reads which source, from which files of which repositories."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from recipes.english.extract import books, dialogues, europarl, pages, sentences, speech, wikiextractor
from recipes.english.extract.archive import File
from recipes.english.extract.ebooks import BOOKS


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A public repository at a commit."""

    name: str  # owner/name
    commit: str

    @property
    def address(self) -> str:
        """Where its files can be had as one archive."""
        return f"https://github.com/{self.name}/archive/{self.commit}.tar.gz"


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """How an archive of a source becomes documents, each a list of paragraphs."""

    documents: Callable[[Iterable[File]], Iterator[list[str]]]
    wanted: str  # an expression for the whole paths of the files
    repositories: tuple[Repository, ...]
    fewest_words: int = 0  # of a document, after its lines were chosen


EXTRACTORS: dict[str, Extractor] = {
    "wikipedia_2015": Extractor(
        documents=wikiextractor.articles,
        wanted=r"text/A[A-D]/wiki_\d+",
        repositories=(Repository(name="jason-feng/wikiVisual", commit="1c0fac92f29f17c1603bfffbe864e0dfdff66897"),),
        fewest_words=40,
    ),
    "wikipedia_2014": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/A[A-I]/wiki_\d+",
        repositories=(Repository(name="ZhouYii/PatchedDistro", commit="961716d8a5a0df1a6373a4d61e360a0b5d1b85cd"),),
        fewest_words=100,
    ),
    "simple_wikipedia": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/wikipedia/A[AB]/wiki_\d+",
        repositories=(
            Repository(name="taminemelissa/quiz-generator", commit="d21d03334ce88c194f8b55317bf8091e7b836f83"),
        ),
        fewest_words=25,
    ),
    "wikinews": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/wikinews/AA/wiki_\d+",
        repositories=(Repository(name="gucorpling/amalgum", commit="a2dbd33e757f75a61d68d22d1a29e840bdffa711"),),
    ),
    "wikivoyage_dump": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/voyage/AA/wiki_\d+",
        repositories=(Repository(name="gucorpling/amalgum", commit="a2dbd33e757f75a61d68d22d1a29e840bdffa711"),),
    ),
    "white_house": Extractor(
        documents=speech.white_house,
        wanted=r"(?:articles|blog|briefings-statements|fact-sheets|press-briefings|releases|remarks|speeches-remarks|statements-releases)/.*\.md",
        repositories=(Repository(name="brian14708/wh-briefings", commit="737ca03a271adc205c67766074ec8d0070f7ad95"),),
    ),
    "public_inquiries": Extractor(
        documents=speech.inquiries,
        wanted=r"(?!.*index\.rst).*\.rst",
        repositories=(
            Repository(name="dracos/uk-covid19-inquiry", commit="2a75adafddaebb8099d1bbbc64ead64a0106ff81"),
            Repository(name="dracos/pohi", commit="ebbacaee48e46c498c233e35f7ea973965435475"),
            Repository(name="dracos/lampard-inquiry", commit="b2c30606d648d2a38c68ab5de34cc4408b4ffe08"),
        ),
    ),
    "congressional_record": Extractor(
        documents=speech.congress,
        wanted=r"docs/[0-9a-f]{32}\.md",
        repositories=(Repository(name="milesmcc/congress-scope", commit="19e83351806b9e81a5e164f3da2c4bd7c01fb2b6"),),
    ),
    "changelog_podcasts": Extractor(
        documents=speech.podcasts,
        wanted=r"(?!bigtent/|\.github/|scripts/)[a-z]+/[^/]+\.md",
        repositories=(Repository(name="thechangelog/transcripts", commit="44a0e16c5919d332e05de481919fbfca90a2c90b"),),
    ),
    "standard_ebooks": Extractor(
        documents=pages.standard_ebooks,
        wanted=r"src/epub/text/.*\.xhtml",
        repositories=tuple(Repository(name=f"standardebooks/{name}", commit=commit) for name, commit in BOOKS.items()),
    ),
    "europarl": Extractor(
        documents=europarl.debates,
        wanted=r"proceedings/xml/en/.*\.xml",
        repositories=(
            Repository(
                name="UDS-SFB-B6-Datasets/Multilingual-Parallel-Direct-Europarl",
                commit="4e284f102c5d37259c55b667cff9e866366eca53",
            ),
        ),
    ),
    "gutenberg_books_all": Extractor(
        documents=books.gutenberg,
        wanted=r"[^/]+/.*\.txt",
        repositories=(Repository(name="rcdm-uga/Gutenberg_Text", commit="a0b16d35a9851168ce9ac649851c17b7ab08d48e"),),
    ),
    "us_human_rights_reports": Extractor(
        documents=pages.reports,
        wanted=r"html/(?:2016|2019|2022|2024)/.*\.html",
        repositories=(
            Repository(
                name="InsideClimateNews/2025-08-state-department-human-rights",
                commit="7dc670a4006b8a0d50290d4731ec26d83c4b904c",
            ),
        ),
    ),
    "tatoeba_en": Extractor(
        documents=sentences.tatoeba,
        wanted=r"data/release/(?:dev|test)/.*eng.*\.txt\.gz",
        repositories=(
            Repository(name="Helsinki-NLP/Tatoeba-Challenge", commit="d34a89ac102fd236503a1911dd1050564bf4e682"),
        ),
    ),
    "sgd_dialogues": Extractor(
        documents=dialogues.schema_guided,
        wanted=r"(?:train|dev|test)/dialogues_\d+\.json",
        repositories=(
            Repository(
                name="google-research-datasets/dstc8-schema-guided-dialogue",
                commit="e852981ae34990f4358979625854259302feaa78",
            ),
        ),
    ),
    "taskmaster": Extractor(
        documents=dialogues.taskmaster,
        wanted=r"TM-4-2024/data/.*\.json",
        repositories=(
            Repository(name="google-research-datasets/Taskmaster", commit="d92cb6af3005f1dc09c39e75e7daf4a04905e00b"),
        ),
    ),
    "topical_chat": Extractor(
        documents=dialogues.topical_chat,
        wanted=r"conversations/(?:valid|test)_\w+\.json",
        repositories=(Repository(name="alexa/Topical-Chat", commit="7c939229cbcf6f55f6977b341a5a2f2fe982d53f"),),
    ),
    "ami_icsi_meetings": Extractor(
        documents=dialogues.meetings,
        wanted=r"data/(?:Product|Academic)/all/.*\.json",
        repositories=(Repository(name="Yale-LILY/QMSum", commit="83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e"),),
    ),
}
