"""The extractors of the first training's sources on miniatures, written by hand."""

import json

import pytest
from recipes.english.extract.extractors import EXTRACTORS
from recipes.english.extract.wrapped import unwrapped


def read(name: str, text: str) -> list[list[str]]:
    """The documents of one file of a source, without white space that does not count."""
    documents = EXTRACTORS[name].documents([("folder/file", text.encode())])
    return [[line for part in document if (line := " ".join(part.split()))] for document in documents]


def tei(kind: str) -> str:
    return f"""<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><text>
<front><div type="titlepage"><p>A NOVEL</p></div></front><body><div type="group"><div type="{kind}"><head>I</head>
<p>He wrote<note>A note.</note> a <hi rend="italic">long</hi>
letter.</p><p>So.</p></div></div></body></text></TEI>"""


def test_novels_and_diplomatic_papers() -> None:
    assert read("eltec_eng_novels", tei("chapter")) == [["He wrote a long letter.", "So."]]
    assert read("frus_diplomatic", tei("document")) == [["He wrote a long letter.", "So."]]
    assert read("frus_diplomatic", tei("toc")) == []


def test_elife() -> None:
    page = """<article article-type="{kind}"><front><abstract><p>Genes.</p></abstract>
<abstract abstract-type="executive-summary"><title>eLife digest</title><p>Cells <italic>grow</italic><xref>1</xref>.</p>
</abstract></front><body><sec><title>Intro</title><p>The whole.</p></sec></body></article>"""
    assert read("elife_digests_essays", page.format(kind="research-article")) == [["Cells grow."]]
    assert read("elife_digests_essays", page.format(kind="editorial")) == [["Cells grow."], ["The whole."]]
    assert read("elife_digests_essays", "<article article-type='correction'><body><p>No.</p></body></article>") == []


def test_medquad() -> None:
    page = """<Document><QAPairs><QAPair><Question>What?</Question><Answer>Key points
        - It is one.    - It is
        another.

        Then more.</Answer></QAPair></QAPairs></Document>"""
    assert read("medquad_health", page) == [["Key points", "It is one.", "It is another.", "Then more."]]


def test_prime_ministers() -> None:
    page = """<transcripts><transcript><title>T</title><content><![CDATA[<p>PRIME MINISTER: Thank you. To<br />
my friends &amp; all.</p><p>JOURNALIST: Why?</p>]]></content></transcript></transcripts>"""
    assert read("au_pm_transcripts", page) == [["Thank you. To my friends &amp; all.", "Why?"]]


@pytest.mark.parametrize("name", ["eltec_eng_novels", "elife_digests_essays", "medquad_health", "au_pm_transcripts"])
def test_a_broken_page_is_named(name: str) -> None:
    with pytest.raises(SystemExit, match=r"folder/file: is no XML .*; get the file again"):
        read(name, '<article article-type="editorial"><p>')


def test_transcripts() -> None:
    assert read("metamuse_podcast", "Adam Wiggins (00:00:32) - Hello and\nwelcome.\n\nMark (00:00):\nYes.\n") == [
        ["Hello and welcome.", "Yes."]
    ]
    meeting = (
        "CHAIRMAN GREENSPAN. Would somebody\nmove? [Laughter]\n\nMS. MINEHAN. So move.\n\nF e d e r a l R e s e r v e\n"
    )
    assert read("fomc_transcripts", meeting) == [["Would somebody move?", "So move."]]
    assert read("fed_speeches_testimony", "The title\n\n[SECTION]\n\nOne line. [Laughter]\nTwo.\n") == [
        ["The title", "One line.", "Two."]
    ]
    assert read("us_president_speeches", '<title="T">\n<date="D">\nMr. President. (Applause.) We meet.\n') == [
        ["Mr. President. We meet."]
    ]
    radio = (
        "[00:00:00:04]\n_page : 3\nCDR: Roger.\nClock.\n\n[00:00:13]\nCC: The [glossary:LM] and [glossary:CSM|it] go.\n"
    )
    assert read("nasa_mission_transcripts", radio) == [["Roger. Clock.", "The LM and it go."]]


def test_lines_cut_at_a_width_are_joined() -> None:
    words = ("it was the house of my old friend that we saw by the river in the days of our youth " * 30).split()
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 60:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    assert list(unwrapped("\n".join(lines))) == [" ".join(lines)]
    assert list(unwrapped("One line.\nAnother line.")) == ["One line.", "Another line."]


def test_articles_in_markdown() -> None:
    page = """---
title: T
---

(a-label)=
# Heading

{{ "https://x" | embed: "y" }}
People and the [map](http://x.org/) in
the {ref}`definitions <a-label>` of it.[^1]

```python
code = 1
```
- One point.
- Another.
"""
    expected = [["People and the map in the definitions of it.", "One point.", "Another."]]
    assert read("us_gov_blogs", page) == expected
    assert read("free_handbooks", page) == expected
    assert read("wikipedia_en", '_17 CARAT_ is the "debut" of __one__.[1] It is.\n') == [
        ['17 CARAT is the "debut" of one. It is.']
    ]


def test_stories() -> None:
    pages = {"a": {"raw_content": "<html><body><div><br/><p>“Fine,” she said.</p><p>So.</p></div></body></html>"}}
    assert read("scp_fiction", json.dumps(pages)) == [["“Fine,” she said.", "So."]]


def test_articles_of_a_second_wikipedia() -> None:
    page = '<doc id="1" title="T">\nT\n\nA text of it.\n</doc>\n'
    assert read("wikipedia_en_b", page) == [["A text of it."]]
