"""The report in Chromium: it opens from the disk, nothing is wrong in it, and it can be read on any screen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed; `make test-browser` installs it")

from tests.apps.explore.browsing import CHROMIUM, visiting
from tests.reproduce.test_report import ALL, CHOSEN, RUNS

from elmo.reproduce.comparison import Comparison
from elmo.reproduce.report.build import PAGE, report_parts, write_report
from elmo.reproduce.report.facts import Facts
from elmo.reproduce.settings import AnyData, TaskData

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium, or set ELMO_CHROMIUM"),
]

SMALLEST = "all => Math.min(...all.map(e => parseFloat(getComputedStyle(e).fontSize)))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page_file(settings: dict[str, AnyData], tmp_path: Path) -> Path:
    data = settings["names"]
    assert isinstance(data, TaskData)
    parts, findings = report_parts(ALL, [Comparison(data, RUNS, CHOSEN)], RUNS, {})
    facts = Facts(date="2026-01-02", command="elmo reproduce all", runs=RUNS, missing=["squad: not there"])
    write_report(tmp_path, parts, findings, facts)
    return tmp_path / PAGE


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_report_is_read_without_a_network(browser: Any, page_file: Path, width: int, scheme: str) -> None:
    size = {"width": width, "height": 900}
    with visiting(browser, page_file.as_uri(), viewport=size, color_scheme=scheme, offline=True) as visit:
        page = visit.page
        page.goto(page_file.as_uri())
        assert visit.too_wide() <= 0  # a wide table moves in a frame of its own
        pictures = page.eval_on_selector_all("img", "all => all.map(i => [i.alt, i.naturalWidth, i.clientWidth])")
        assert len(pictures) >= 3
        assert all(alt.endswith(".") and natural > 0 and 250 <= shown <= width for alt, natural, shown in pictures)
        tables = page.eval_on_selector_all(
            "table",
            "all => all.map(t => [t.caption.textContent, t.tHead.rows[0].cells.length, [...t.tBodies[0].rows].map("
            "r => [r.cells.length, r.cells[0].tagName])])",
        )
        assert len(tables) >= 8
        for caption, columns, rows in tables:
            assert caption
            assert rows
            assert all(row == [columns, "TH"] for row in rows)
        smallest = page.eval_on_selector_all("td, th, p, li", SMALLEST)
        assert smallest >= 14
        page.click("nav a[href='#table3']")
        assert page.eval_on_selector("#table3", "e => Math.abs(e.getBoundingClientRect().top) < innerHeight")


def test_nobody_is_kept_out_of_the_report(browser: Any, page_file: Path) -> None:
    with visiting(browser, page_file.as_uri(), viewport={"width": 1440, "height": 900}) as visit:
        visit.page.goto(page_file.as_uri())
        assert visit.axe() == []
