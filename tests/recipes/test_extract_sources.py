"""Each extractor on a miniature of its source, written by hand."""

import gzip
import json
from collections.abc import Iterable

from recipes.english.extract import books, dialogues, europarl, sentences, speech, wikiextractor
from recipes.english.extract.extractors import EXTRACTORS


def read(name: str, files: dict[str, str | bytes]) -> list[list[str]]:
    """The documents of a source, with single spaces and without empty lines, as the frame makes them."""
    contents = ((path, text if isinstance(text, bytes) else text.encode()) for path, text in files.items())
    return [tidied(document) for document in EXTRACTORS[name].documents(contents)]


def tidied(lines: Iterable[str]) -> list[str]:
    return [text for line in lines if (text := " ".join(line.split()))]


def test_articles_between_tags() -> None:
    page = """<doc id="12" url="http://en.wikipedia.org/wiki?curid=12" title="Anarchism">
Anarchism

It is a philosophy (; from Greek) of AT&amp;T.
It flew at a speed of . It was fast. "So it was ( )," he said.
BULLET::::- A point in a list.
External links.
Never read this.
</doc>
<doc id="13" url="http://en.wikipedia.org/wiki?curid=13" title="Second">
Second

Its text.
</doc>
"""
    assert read("wikipedia_2015", {"text/AA/wiki_00": page}) == [
        [
            "It is a philosophy (from Greek) of AT&T.",
            'It was fast. "So it was," he said.',
            "A point in a list.",
        ],
        ["Its text."],
    ]
    assert EXTRACTORS["wikipedia_2014"].documents is wikiextractor.articles


def test_articles_in_json() -> None:
    lines = [json.dumps({"title": "April", "text": text}) for text in ("April is a month.\nReferences.\nNo", "May.")]
    assert read("simple_wikipedia", {"wiki_00": "\n".join(lines)}) == [["April is a month."], ["May."]]


def test_articles_with_escaped_links() -> None:
    page = """<doc id="1" url="x" title="News">
<h1>News</h1>
♡❤♡May 1♡❤♡
The &lt;a href="Group"&gt;group&lt;/a&gt; won.
<h2>Reaction</h2>
It was glad.
<h2>Sources</h2>
BULLET::::- "&lt;a href="http%3A//x"&gt;A paper&lt;/a&gt;"
</doc>"""
    assert read("wikinews", {"wiki_00": page}) == [["May 1", "The group won.", "It was glad."]]


def test_white_house() -> None:
    head = '---\ntitle: "Press Briefing"\n---\n \n12:39 P.M. EST  \n  \n'  # a break in the line is two spaces
    said = (
        "     MS. PSAKI:  Good afternoon.  We are\n"
        "joined by **the** [secretary](https://x.gov/a_(b)).  (Applause.)  \n  \n     Q    What is new?\n\n"
    )
    page = head + said + "-   One point of \\*many\\*.\n"
    assert read("white_house", {"press-briefings/x.md": page}) == [
        ["12:39 P.M. EST", "Good afternoon. We are joined by the secretary.", "What is new?", "One point of *many*."]
    ]


def test_public_inquiries() -> None:
    page = """.. raw:: html

   <a id="hearing-link">Official page</a>

14 February 2022 – Baljit Sethi
===============================

*(11.00 am)*

*MS HELEN (affirmed).*

**Sir Wyn Williams**: Well, perhaps *I* should. (Pause)

Thank you.
"""
    assert read("public_inquiries", {"a.rst": page}) == [["Well, perhaps I should.", "Thank you."]]


def test_congress() -> None:
    page = """---
---

# REPUBLICAN STUDY COMMITTEE
## `000a07`
`Mr. CARTER — 23 May 2007`

---


Mr. CARTER. For 108 days
they said so.

The PRESIDING OFFICER. Without objection.

The Senator is here.
"""
    assert read("congressional_record", {"docs/000a.md": page}) == [
        ["For 108 days they said so.", "Without objection.", "The Senator is here."]
    ]


def test_podcasts() -> None:
    page = "**Jerod Santo:** Well, \\[laughter\\] it *was* popular.\n\n\\[51:42\\] I think so.\n"
    assert read("changelog_podcasts", {"podcast/a.md": page}) == [["Well, it was popular.", "I think so."]]
    assert speech.podcasts is EXTRACTORS["changelog_podcasts"].documents


def test_standard_ebooks() -> None:
    def chapter(text: str) -> str:
        return f"""<html><head><title>I: No</title></head><body><section><hgroup><h2>I</h2><p>Title</p></hgroup>
<p>{text}</p></section></body></html>"""

    note = 'One.<a href="e" epub:type="noteref">1</a> Two<br/>three.'
    files = {
        "src/epub/text/chapter-10.xhtml": chapter("Ten &amp; more."),
        "src/epub/text/chapter-2.xhtml": chapter(note),
        "src/epub/text/colophon.xhtml": chapter("Made by us."),
    }
    assert read("standard_ebooks", dict(files)) == [["One. Two three."], ["Ten & more."]]


def test_human_rights_reports() -> None:
    page = """<head><style>p</style></head><nav><p>Menu</p></nav><p><b>Freedom:</b> They&#8217;re <span>free.</span>
<p>Not closed<table><tr><td>Cell</td></tr></table> here</p><script>x</script>"""
    assert read("us_human_rights_reports", {"html/2016/a.html": page}) == [
        ["Freedom: They’re free.", "Not closed here"]
    ]


def test_europarl() -> None:
    page = """<?xml version='1.0' encoding='utf-8'?>
<text id="x"><section title="One"><intervention><p sl="de">(DE) Mr Barton"s <i>view</i>. (Applause)</p>
<a text="(Applause)"/><p sl="en">Thank you.</p></intervention></section><section title="Empty"/></text>"""
    assert read("europarl", {"a.xml": page}) == [["Mr Barton's view.", "Thank you."], []]
    assert europarl.debates is EXTRACTORS["europarl"].documents


def test_gutenberg() -> None:
    page = """The Project Gutenberg EBook of X\r
Language: English\r
*** START OF THIS PROJECT GUTENBERG EBOOK X ***\r
\r
Produced by David Reed\r
\r
CHAPTER I. The Start\r
\r
It was a _very_ fine\r
day.[Illustration: A day]\r
\r
II\r
\r
She went.[2]\r
\r
End of the Project Gutenberg EBook of X\r
\r
The licence.\r
"""
    assert [document for document in read("gutenberg_books_all", {"A/x.txt": page}) if document] == [
        ["It was a very fine day."],
        ["She went."],
    ]
    assert read("gutenberg_books_all", {"A/x.txt": page.replace("Language: English", "Language: German")}) == []
    assert read("gutenberg_books_all", {"A/readme.txt": "No marks here."}) == []
    assert books.gutenberg is EXTRACTORS["gutenberg_books_all"].documents


def test_tatoeba() -> None:
    table = gzip.compress(b"afr\teng\tVo\xc3\xabls.\tBirds have wings.\nafr\teng\tX.\tBirds have wings.\nbroken\n")
    other = gzip.compress(b"eng\tfin\tA baby.\tVauva.\n")
    (document,) = read("tatoeba_en", {"a.txt.gz": table, "b.txt.gz": other})
    assert sorted(document) == ["A baby.", "Birds have wings."]
    many = gzip.compress("".join(f"eng\tfin\tNumber {n}.\tx\n" for n in range(130)).encode())
    documents = read("tatoeba_en", {"a.txt.gz": many})
    assert [len(document) for document in documents] == [sentences.TOGETHER, sentences.TOGETHER, 10]
    assert documents == read("tatoeba_en", {"a.txt.gz": many})
    assert documents[0][:3] != ["Number 0.", "Number 1.", "Number 2."]


def test_dialogues() -> None:
    def held(content: object) -> dict[str, str | bytes]:
        return {"x.json": json.dumps(content)}

    assert read("taskmaster", held([{"utterances": [{"text": "one latte"}, {"text": "ok"}]}])) == [["one latte", "ok"]]
    assert read("topical_chat", held({"t_1": {"content": [{"message": "Do you know? "}]}})) == [["Do you know?"]]
    assert read("sgd_dialogues", held([{"turns": [{"utterance": "Hi."}]}, {"turns": []}])) == [["Hi."], []]
    spoken = "Right {vocalsound} , I 'm here . The kick - off , um {disfmarker}"
    meeting = {"meeting_transcripts": [{"speaker": "A", "content": spoken}]}
    assert read("ami_icsi_meetings", held(meeting)) == [["Right, I'm here. The kick-off, um"]]
    assert dialogues.meetings is EXTRACTORS["ami_icsi_meetings"].documents
