"""Which function reads which source, from which files of which repositories."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from recipes.english.extract import (
    books,
    dialogues,
    europarl,
    pages,
    posts,
    sentences,
    speech,
    transcripts,
    wikiextractor,
    xmltexts,
)
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


def _at(*places: str) -> tuple[Repository, ...]:
    """Repositories from `owner/name@commit`."""
    return tuple(Repository(name=name, commit=commit) for name, _, commit in (place.partition("@") for place in places))


EXTRACTORS: dict[str, Extractor] = {
    "wikipedia_2015": Extractor(
        documents=wikiextractor.articles,
        wanted=r"text/A[A-D]/wiki_\d+",
        repositories=_at("jason-feng/wikiVisual@1c0fac92f29f17c1603bfffbe864e0dfdff66897"),
        fewest_words=40,
    ),
    "wikipedia_2014": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/A[A-I]/wiki_\d+",
        repositories=_at("ZhouYii/PatchedDistro@961716d8a5a0df1a6373a4d61e360a0b5d1b85cd"),
        fewest_words=100,
    ),
    "simple_wikipedia": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/wikipedia/A[AB]/wiki_\d+",
        repositories=_at("taminemelissa/quiz-generator@d21d03334ce88c194f8b55317bf8091e7b836f83"),
        fewest_words=25,
    ),
    "wikinews": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/wikinews/AA/wiki_\d+",
        repositories=_at("gucorpling/amalgum@a2dbd33e757f75a61d68d22d1a29e840bdffa711"),
    ),
    "wikivoyage_dump": Extractor(
        documents=wikiextractor.articles,
        wanted=r"data/voyage/AA/wiki_\d+",
        repositories=_at("gucorpling/amalgum@a2dbd33e757f75a61d68d22d1a29e840bdffa711"),
    ),
    "white_house": Extractor(
        documents=speech.white_house,
        wanted=r"(?:articles|blog|briefings-statements|fact-sheets|press-briefings|releases|remarks|speeches-remarks|statements-releases)/.*\.md",
        repositories=_at("brian14708/wh-briefings@737ca03a271adc205c67766074ec8d0070f7ad95"),
    ),
    "public_inquiries": Extractor(
        documents=speech.inquiries,
        wanted=r"(?!.*index\.rst).*\.rst",
        repositories=_at(
            "dracos/uk-covid19-inquiry@2a75adafddaebb8099d1bbbc64ead64a0106ff81",
            "dracos/pohi@ebbacaee48e46c498c233e35f7ea973965435475",
            "dracos/lampard-inquiry@b2c30606d648d2a38c68ab5de34cc4408b4ffe08",
        ),
    ),
    "congressional_record": Extractor(
        documents=speech.congress,
        wanted=r"docs/[0-9a-f]{32}\.md",
        repositories=_at("milesmcc/congress-scope@19e83351806b9e81a5e164f3da2c4bd7c01fb2b6"),
    ),
    "changelog_podcasts": Extractor(
        documents=speech.podcasts,
        wanted=r"(?!bigtent/|\.github/|scripts/)[a-z]+/[^/]+\.md",
        repositories=_at("thechangelog/transcripts@44a0e16c5919d332e05de481919fbfca90a2c90b"),
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
        repositories=_at("rcdm-uga/Gutenberg_Text@a0b16d35a9851168ce9ac649851c17b7ab08d48e"),
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
        repositories=_at("Helsinki-NLP/Tatoeba-Challenge@d34a89ac102fd236503a1911dd1050564bf4e682"),
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
        repositories=_at("google-research-datasets/Taskmaster@d92cb6af3005f1dc09c39e75e7daf4a04905e00b"),
    ),
    "topical_chat": Extractor(
        documents=dialogues.topical_chat,
        wanted=r"conversations/(?:valid|test)_\w+\.json",
        repositories=_at("alexa/Topical-Chat@7c939229cbcf6f55f6977b341a5a2f2fe982d53f"),
    ),
    "ami_icsi_meetings": Extractor(
        documents=dialogues.meetings,
        wanted=r"data/(?:Product|Academic)/all/.*\.json",
        repositories=_at("Yale-LILY/QMSum@83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e"),
    ),
    "wikipedia_en_b": Extractor(
        documents=wikiextractor.articles,
        wanted=r"text/AA/wiki_\d+",
        repositories=_at("Vibhas-hs-edu/WikiTasks@52b1f163137bc40b0f67cbf129d5dab4f6fd5901"),
        fewest_words=40,
    ),
    "wikipedia_en": Extractor(
        documents=posts.markdown,
        wanted=r"(?:Abstract|Page)/.*\.md",
        repositories=_at("chinapedia/wikipedia.abstract.en@4f3e897da088cbe89a4f1d4cba3fa2e439c3721b"),
    ),
    "au_pm_transcripts": Extractor(
        documents=xmltexts.prime_ministers,
        wanted=r"transcripts/transcript-\d+\.xml",
        repositories=_at("wragge/pm-transcripts@97683f1ee816b9b0838275418e09b7f7ad352e72"),
    ),
    "eltec_eng_novels": Extractor(
        documents=xmltexts.novels,
        wanted=r"level1/.*\.xml",
        repositories=_at("COST-ELTeC/ELTeC-eng@3db3b6738a836f0e1b276b6c9703e42f4297f978"),
    ),
    "metamuse_podcast": Extractor(
        documents=transcripts.metamuse,
        wanted=r"(?:archive/completed|plaintext)/.*\.txt",
        repositories=_at("ppkn/metamuse-transcripts@620e3d956c1dc4eacd77564ac59a9fff4e796297"),
    ),
    "fomc_transcripts": Extractor(
        documents=transcripts.fomc,
        wanted=r"src/collection/python/data/transcript_raw_text/.*\.txt",
        repositories=_at("jm4474/FOMCTextAnalysis@0a039d9b197f487d8ba8c5d230b587c48cf865f6"),
    ),
    "fed_speeches_testimony": Extractor(
        documents=transcripts.federal_reserve,
        wanted=r"src/data/FOMC/(?:speech|testimony)/.*\.txt",
        repositories=_at("seanahmad/NLP-Federal-Reserve-Corpora@c4abf03b3379aa2e36ff7bbc91192544809520bd"),
    ),
    "us_president_speeches": Extractor(
        documents=transcripts.presidents,
        wanted=r"etl/data/president-speeches/(?:fdroosevelt|truman|eisenhower|kennedy|lbjohnson|nixon|ford|carter|reagan"
        r"|bush|clinton|gwbush|obama)/.*\.txt",
        repositories=_at("mattdean1/nlp-president-speeches@f0272e89de3563b18d4fc8bfe6a5749b818d316d"),
    ),
    "nasa_mission_transcripts": Extractor(
        documents=transcripts.missions,
        wanted=r"missions/[^/]+/transcripts/(?:TEC|CM)",
        repositories=_at("Spacelog/Spacelog@4d3bfefd8aae9e341d379ddd3c2cf8793c8e3e7a"),
    ),
    "medquad_health": Extractor(
        documents=xmltexts.medquad,
        wanted=r"[1-9]_.*_QA/.*\.xml",
        repositories=_at("abachaa/MedQuAD@577bd37b96c02d1833b2c9eed2de9f96964e96cb"),
    ),
    "frus_diplomatic": Extractor(
        documents=xmltexts.diplomatic_papers,
        wanted=r"volumes/frus(?:19(?:4[5-9]|[5-9]\d)).*\.xml",
        repositories=_at("HistoryAtState/frus@d3dff1508b3ee55c20d3ad0ae9b9ef3cc7736d76"),
    ),
    "elife_digests_essays": Extractor(
        documents=xmltexts.elife,
        wanted=r"articles/.*\.xml",
        repositories=_at("elifesciences/elife-article-xml@72034a54ab58b83c8330fd427f4606c00ccec177"),
    ),
    "us_gov_blogs": Extractor(
        documents=posts.markdown,
        wanted=r"content/.*\.md",
        repositories=_at(
            "GSA/digitalgov.gov@4979583206d90ff1707b097454a9b169ca9e95e4",
            "18F/18f.gsa.gov@0a55c75e6d9bc71c80136a3867dac52356177443",
        ),
    ),
    "free_handbooks": Extractor(
        documents=posts.markdown,
        wanted=r"(?:en/lessons|_posts|book/website)/.*\.md",
        repositories=_at(
            "programminghistorian/jekyll@a1b7b29fa800b9ff6fca59ab796397332d1aca84",
            "the-turing-way/the-turing-way@c98a0e6ca47450456cca7c5eedda2d5ee131d1ce",
        ),
    ),
    "scp_fiction": Extractor(
        documents=posts.stories,
        wanted=r"docs/data/scp/tales/content_20\d\d\.json",
        repositories=_at("scp-data/scp-api@aed5fca0c9b37f07e321fadcdf0e19bbf12d0354"),
    ),
}
