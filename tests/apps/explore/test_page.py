"""The page in Chromium, with the packaged model: what a guest sees, types, clicks and takes along."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed; `make test-browser` installs it")
pytest.importorskip("starlette", reason="the extra `serve` is not installed")

from tests.apps.explore.browsing import CHROMIUM, Visit, until, visiting
from tests.apps.server.running import Running, running
from tests.tasks.conftest import SAMPLES_OF_TASKS, small_recipe

import elmo
from elmo.analysis.collection import packaged_passages
from elmo.analysis.textcollection import TextCollection
from elmo.apps.explore.data import PAIRS, Explorer, UsesQuestion
from elmo.apps.explore.export import one_page
from elmo.apps.explore.routes import explore_routes
from elmo.apps.server.app import make_app
from elmo.apps.server.limits import Limits
from elmo.tasks.training.trainer import train_task

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium, or set ELMO_CHROMIUM"),
]

VIEWS = ["#word=bank&use=1", "#word=mouse&use=3&group=clusters", "#view=compare", "#view=near"]


@pytest.fixture(scope="module")
def english() -> Explorer:
    embedder = elmo.load(device="cpu")
    collection = TextCollection(embedder, packaged_passages(embedder.model.tokenizer))
    return Explorer(collection, model="english", source="packaged sentences")


@pytest.fixture(scope="module")
def server(english: Explorer) -> Iterator[Running]:
    app = make_app(english.embedder, limits=Limits(most_bytes=4_200_000), extra_routes=explore_routes(english))
    with running(app) as found:
        yield found


@pytest.fixture(scope="module")
def origin(server: Running) -> str:
    return f"http://127.0.0.1:{server.port}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser: Any, origin: str) -> Iterator[Visit]:
    with visiting(browser, origin, viewport={"width": 1440, "height": 900}) as found:
        yield found


def dots(page: Any) -> list[tuple[float, float]]:
    found = page.evaluate("[...document.querySelectorAll('.dot')].map(dot => [dot.id, dot.getAttribute('transform')])")
    places = {int(name[4:]): re.findall(r"-?\d+\.\d+", transform) for name, transform in found}
    return [(float(places[n][0]), float(places[n][1])) for n in range(len(places))]


def words_of(page: Any, column: str) -> list[str]:
    return page.eval_on_selector_all(f".kwic tbody td.{column}", "cells => cells.map(cell => cell.textContent.trim())")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("view", VIEWS)
def test_nobody_is_kept_out(browser: Any, origin: str, view: str, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800}
    with visiting(browser, origin, viewport=size, color_scheme=scheme, bypass_csp=True) as visit:
        page = visit.open(view)
        page.wait_for_selector(".nearlist li, .heat td")
        assert visit.too_wide() <= 0
        assert visit.axe() == []


def test_the_first_sight_is_a_map_of_bank(visit: Visit) -> None:
    page = visit.open()
    assert page.title() == "bank · elmo explore"
    assert len(dots(page)) == 25
    assert page.locator(".legend").inner_text().split("\n")[0].strip() == "for money"
    assert page.locator("#detail-title + div .sentence mark").inner_text() == "bank"
    assert "word=bank" in page.url


def test_the_slider_moves_the_dots_and_the_lowest_layer_knows_no_context(visit: Visit) -> None:
    page = visit.open("#word=bank")
    top = dots(page)
    page.focus("#layer")
    page.keyboard.press("ArrowLeft")
    until(page, "location.hash.includes('layer=1')")
    middle = dots(page)
    assert middle != top
    page.keyboard.press("ArrowLeft")
    until(page, "document.querySelector('.mapnote').textContent.includes('one place')")
    assert len(set(dots(page))) == 1
    assert page.locator("#layer").get_attribute("aria-valuetext") == "tokens"
    page.get_by_role("button", name="LSTM 2").click()
    until(page, "!document.querySelector('.mapnote').textContent")
    assert dots(page) == top


def test_between_two_layers_dots_glide_unless_motion_is_unwelcome(browser: Any, origin: str) -> None:
    frames = {}
    for motion in ("reduce", "no-preference"):
        with visiting(browser, origin, reduced_motion=motion) as visit:
            page = visit.open("#word=bank")
            page.evaluate(
                """() => {
                    window.seen = new Set();
                    const first = document.getElementById("dot-3");
                    const note = () => window.seen.add(first.getAttribute("transform"));
                    new MutationObserver(note).observe(first, {attributes: true});
                }"""
            )
            page.keyboard.press("1")
            until(page, "document.querySelector('.mapnote').textContent.includes('one place')")
            frames[motion] = page.evaluate("window.seen.size")
    assert frames["reduce"] == 1
    assert frames["no-preference"] > 2


def test_the_concordance_is_sorted_by_likeness_to_the_chosen_use(visit: Visit, english: Explorer) -> None:
    page = visit.open("#word=bank&use=5")
    cosines = english.likeness(UsesQuestion("bank"), 5, centred=False)["cosines"][2]
    shown = [float(value) for value in words_of(page, "like")]
    assert shown == sorted(shown, reverse=True)
    assert shown == pytest.approx(sorted(cosines, reverse=True), abs=0.006)
    assert set(words_of(page, "word")) == {"bank"}
    page.locator(".kwic tbody tr").nth(4).locator("button").click()
    until(page, "document.querySelector('.kwic tbody tr').classList.contains('chosen')")
    assert "use=5" not in page.url
    page.go_back()
    until(page, "location.hash.includes('use=5')")
    assert [float(value) for value in words_of(page, "like")] == shown
    page.get_by_role("button", name="Before", exact=True).click()
    until(page, "location.hash.includes('sort=left')")
    nearest = [text.split()[-1].lower() for text in words_of(page, "left") if text]
    assert nearest == sorted(nearest)


def test_the_page_is_walked_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit.open("#word=bank")
    page.keyboard.press("/")
    page.keyboard.type("spring")
    page.keyboard.press("Enter")
    until(page, "document.title.startsWith('spring')")
    page.keyboard.press("Escape")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('plane')"):
            break
    else:
        pytest.fail("the map is not reached with Tab")
    seen = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-activedescendant')"))
    assert len(seen) >= 3
    assert page.locator(".tip").is_visible()
    page.keyboard.press("Enter")
    until(page, "/use=\\d/.test(location.hash)")
    chosen = int(re.search(r"use=(\d+)", page.url)[1])
    page.wait_for_selector(f"#dot-{chosen}[aria-selected=true]")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.wait_for_selector(".markedform")
    page.keyboard.press("Escape")
    page.wait_for_selector(".markedform", state="detached")
    page.keyboard.press("2")
    until(page, "location.hash.includes('layer=1')")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open] kbd")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog[open]", state="detached")
    page.keyboard.press("Escape")
    until(page, "!/use=\\d/.test(location.hash)")


def test_every_stop_of_the_keyboard_shows_where_it_is(visit: Visit) -> None:
    page = visit.open("#word=bank&use=1")
    for _ in range(30):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => {
                const style = getComputedStyle(document.activeElement);
                const html = document.activeElement.outerHTML.slice(0, 80);
                return [html, style.outlineStyle, parseFloat(style.outlineWidth)];
            }"""
        )
        assert found[1] != "none", found
        assert found[2] >= 2, found


def test_clusters_get_names_that_stay_and_are_exported(visit: Visit) -> None:
    page = visit.open("#word=mouse&use=3&group=clusters&clusters=2")
    page.wait_for_selector(".legend input")
    page.locator(".legend input").first.fill("animal")
    page.keyboard.press("Enter")
    until(page, "[...document.querySelectorAll('.name')].some(name => name.textContent === 'animal')")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator(".legend input").first.input_value() == "animal"
    page.get_by_role("button", name="Save …").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "elmo-mouse.csv"
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    assert len(rows) == 24
    assert {row["label"] for row in rows if row["cluster"] == "1"} == {"animal"}
    assert {row["label"] for row in rows if row["cluster"] == "2"} == {""}
    assert float(rows[3]["cosine LSTM 2"]) == pytest.approx(1.0, abs=1e-3)


def test_a_lasso_marks_uses_and_labels_them(visit: Visit) -> None:
    page = visit.open("#word=bank")
    box = page.locator(".plane").bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    half = box["x"] + box["width"] / 2
    for x, y in [
        (half, box["y"] + 3),
        (half, box["y"] + box["height"] - 3),
        (box["x"] + 3, box["y"] + box["height"] - 3),
    ]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    inside = sum(x < box["width"] / 2 for x, _ in dots(page))
    assert page.locator(".markedform b").inner_text() == f"{inside} uses marked"
    page.locator(".markedform input").fill("left side")
    page.keyboard.press("Enter")
    until(page, "location.hash.includes('group=labels')")
    assert page.locator(".legend .num").first.inner_text() == str(inside)
    assert words_of(page, "group").count("left side") == inside


def test_two_sentences_are_the_cosines_of_the_library(visit: Visit, english: Explorer) -> None:
    page = visit.open("#view=compare")
    wanted = english.compare(*PAIRS[0], centred=False)
    page.wait_for_selector(".heat td button")
    shown = page.eval_on_selector_all(".heat td button", "cells => cells.map(cell => parseFloat(cell.textContent))")
    assert shown == pytest.approx([value for row in wanted["cosines"][2] for value in row], abs=0.006)
    page.get_by_role("button", name="tokens", exact=True).click()
    until(page, "location.hash.includes('layer=0')")
    assert page.locator(".heat td button[aria-pressed=true]").inner_text() == "1.0"  # bank and bank, by their letters
    page.locator(".heat td button[aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".besides h3").inner_text() == "“bank” and “for”"
    page.locator("#second").fill("Nobody swims in it.")
    page.get_by_role("button", name="Compare").click()
    until(page, "document.querySelectorAll('.heat thead th').length === 5")


def test_why_is_one_click_from_a_use(visit: Visit) -> None:
    page = visit.open("#word=bank&use=0")
    page.get_by_role("button", name="Beside the least alike").click()
    page.wait_for_selector(".heat td button")
    assert (
        page.locator("#first").input_value()
        == "We tied the boat to a willow on the far bank and waited for the rain to stop."
    )
    assert page.locator(".besides h3").inner_text() == "“bank” and “bank”"
    page.go_back()
    page.wait_for_selector("#dot-0")


def test_a_made_up_word_has_neighbours_in_every_layer(visit: Visit) -> None:
    page = visit.open("#view=near")
    page.wait_for_selector(".nearlist li")
    assert page.locator(".token[aria-pressed=true]").inner_text() == "grindled"
    assert page.locator(".nearlist").count() == 3
    page.locator("#sentence").fill("He blorped his coffee.")
    page.get_by_role("button", name="Look").click()
    until(page, "document.querySelector('.view').innerText.includes('“blorped” is not in the text')")
    page.get_by_role("button", name="coffee").click()
    until(page, "document.querySelector('.view').innerText.includes('“coffee” is used in the text')")


def test_an_own_text_is_looked_into_and_survives_a_reload(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Text …").click()
    page.locator("#own-text").fill(
        "The seal signed nothing. <b>A seal</b> swims.\n"
        "A broken seal on the letter. The wax seal is red. Every seal dives."
    )
    page.get_by_role("button", name="Use this text").click()
    until(page, "document.getElementById('about').textContent.includes('your text')")
    page.fill("#word", "seal")
    page.keyboard.press("Enter")
    until(page, "document.title.startsWith('seal')")
    assert len(dots(page)) == 5
    assert page.locator(".kwic b").count() == 0  # what looks like HTML is text
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert len(dots(page)) == 5
    assert page.locator(".kwic td.place").first.inner_text().startswith("line ")


def test_a_link_to_a_text_that_is_gone_says_so(visit: Visit) -> None:
    page = visit.open("#word=seal&text=0123456789abcdef")
    assert "Paste it again" in page.locator(".problem").first.inner_text()
    page.get_by_role("button", name="Text …").click()
    page.get_by_role("button", name="Back to: packaged sentences").click()
    page.wait_for_selector("#dot-0")


def test_a_word_that_is_not_there_is_answered_in_a_sentence(browser: Any, origin: str) -> None:
    with visiting(browser, origin) as visit:
        page = visit.open()
        page.fill("#word", "zebras")
        page.keyboard.press("Enter")
        page.wait_for_selector(".problem:visible")
        assert "'zebras' is in none of the 960 sentences" in page.locator(".problem").first.inner_text()
        page.get_by_role("button", name="play", exact=True).click()
        until(page, "document.title.startsWith('play')")
        assert page.locator(".problem").first.is_hidden()
        visit.problems = [one for one in visit.problems if "422" not in one]  # Chromium tells each refusal by itself


def test_pictures_and_numbers_are_saved(visit: Visit) -> None:
    page = visit.open("#word=bank&use=2")

    def saved(name: str) -> bytes:
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        return Path(download.value.path()).read_bytes()

    page.get_by_role("button", name="Save …").click()
    assert saved("PNG").startswith(b"\x89PNG")
    drawing = saved("SVG").decode()
    assert drawing.count("<title>") == 25
    assert "for money" in drawing
    values = json.loads(saved("JSON"))
    assert (values["word"], values["layer"], values["chosen"], len(values["uses"])) == ("bank", "LSTM 2", 2, 25)
    assert values["uses"][2]["cosines"] == pytest.approx([1, 1, 1], abs=1e-3)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Two sentences").click()
    page.wait_for_selector(".heat td button")
    page.get_by_role("button", name="Save …").click()
    assert saved("PNG").startswith(b"\x89PNG")
    assert "canoe" in saved("CSV").decode()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_and_a_map_of_many_uses_keep_nobody_out(browser: Any, origin: str, scheme: str) -> None:
    with visiting(browser, origin, color_scheme=scheme, bypass_csp=True) as visit:
        page = visit.open("#word=bank&use=1")
        for name in ("Help and keys", "Save …", "Text …"):
            page.get_by_role("button", name=name, exact=True).click()
            page.wait_for_selector("dialog[open]")
            assert visit.axe() == [], name
            page.keyboard.press("Escape")
        page.goto(f"{origin}#word=the&most=600")
        page.wait_for_selector("canvas.dots")
        until(page, "document.title.startsWith('the') && !document.querySelector('[aria-busy]')")
        assert visit.axe() == []
        page.locator(".plane").focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        assert " the " in f" {page.locator('#said').inner_text().lower()} "
        assert page.locator(".pages span").inner_text() == "1–50 of 600"


def test_five_thousand_uses_move_from_layer_to_layer(browser: Any, origin: str) -> None:
    with visiting(browser, origin, reduced_motion="no-preference") as visit:
        page = visit.open()
        text = "\n".join(
            f"The {['red', 'blue', 'warm', 'cold'][n % 4]} stone of house {n} lies here." for n in range(5000)
        )
        name = page.evaluate(
            """async content => {
                const headers = {"content-type": "application/json"};
                const body = JSON.stringify({content});
                const reply = await fetch("explore/data/text", {method: "POST", headers, body});
                const found = await reply.json();
                sessionStorage.setItem("elmo-text:" + found.text, content);
                return found.text;
            }""",
            text,
        )
        page.goto(f"{origin}#word=stone&most=5000&text={name}")
        page.wait_for_selector("canvas.dots", timeout=800_000)
        until(page, "document.querySelector('.kwic tbody tr')")
        frames = page.evaluate(
            """async () => {
                const times = [];
                let running = true;
                const tick = now => { times.push(now); if (running) requestAnimationFrame(tick); };
                requestAnimationFrame(tick);
                document.querySelector(".ticks button").click();
                while (!document.querySelector(".mapnote").textContent) await new Promise(requestAnimationFrame);
                running = false;
                return times.slice(1).map((time, n) => time - times[n]);
            }"""
        )
        print(
            f"5,000 uses, from the top layer to the lowest: {len(frames)} frames, {sum(frames) / len(frames):.0f} ms "
            f"each, the longest {max(frames):.0f} ms"
        )
        assert len(frames) >= 2
        assert "All 5000 dots" in page.locator(".mapnote").inner_text()


def test_the_page_in_one_file_works_without_server_and_model(browser: Any, english: Explorer, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(one_page(english, ["bank", "mouse"]), encoding="utf-8")
    with visiting(browser, path.as_uri(), viewport={"width": 1200, "height": 900}) as visit:
        page = visit.open()
        assert len(dots(page)) == 25
        page.keyboard.press("1")
        until(page, "document.querySelector('.mapnote').textContent.includes('one place')")
        page.keyboard.press("3")
        page.locator(".kwic tbody tr button").nth(3).click()
        until(page, "document.querySelector('.kwic tbody tr').classList.contains('chosen')")
        page.wait_for_selector(".nearlist li")
        page.get_by_role("button", name="mouse", exact=True).click()
        until(page, "document.title.startsWith('mouse')")
        page.select_option("#grouping", "clusters")
        page.wait_for_selector(".legend input")
        page.check("#centred")
        page.get_by_role("link", name="Two sentences").click()
        page.wait_for_selector(".heat td button")
        page.get_by_role("link", name="A made-up word").click()
        page.wait_for_selector(".nearlist li")
        page.get_by_role("button", name="florbs").click()
        until(page, "document.querySelector('.token[aria-pressed=true]').textContent === 'florbs'")
        page.locator("#sentence").fill("Something else.")
        page.get_by_role("button", name="Look").click()
        page.wait_for_selector(".problem:visible")
        assert "saved without the model" in page.locator(".problem:visible").inner_text()
        page.go_back()
        page.wait_for_selector(".nearlist li")


@pytest.fixture(scope="module")
def answering(english: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a model of each task; that of names has learned its sample by heart."""
    trained = {}
    for name, sample in SAMPLES_OF_TASKS.items():
        recipe = small_recipe(sample, train__epochs=25 if name == "ner" else 1)
        examples = recipe.make_task().read(str(sample.train))[: None if name == "ner" else 8]
        folder = tmp_path_factory.mktemp("task") / "run"
        result = train_task(sample.task, recipe, examples, examples, folder, model=english.embedder.model, device="cpu")
        assert result.trained is not None
        trained[name] = result.trained
    kinds = {name: one.name for name, one in trained.items()}
    tokenizer = english.embedder.model.tokenizer
    collection = TextCollection(english.embedder, packaged_passages(tokenizer))
    explorer = Explorer(collection, model="english", source="packaged sentences", tasks=kinds)
    with running(make_app(english.embedder, tasks=trained, extra_routes=explore_routes(explorer))) as found:
        yield found


def test_tasks_show_their_answers_marked_in_the_text(browser: Any, answering: Running) -> None:
    text = "\N{GRINNING FACE} Anna Keller moved to Lisbon."  # a character that is two to JavaScript
    with visiting(browser, f"http://127.0.0.1:{answering.port}/", bypass_csp=True) as visit:
        page = visit.open("#view=answers&task=ner")
        page.fill("#input", text)
        page.get_by_role("button", name="Answer", exact=True).click()
        until(
            page, "location.hash.includes('Keller') && document.querySelector('.span')?.closest('[aria-busy]') === null"
        )
        (found,) = answering.post("/predict", {"task": "ner", "inputs": [text]}).json["results"]
        spans = [span for sentence in found["sentences"] for span in sentence["spans"]]
        assert spans
        shown = page.eval_on_selector_all(
            ".span", "spans => spans.map(span => [span.firstChild.textContent, span.lastChild.textContent])"
        )
        assert shown == [[span["text"], span["label"]] for span in spans]
        assert visit.axe() == []


def test_every_task_has_a_place_for_its_answers(browser: Any, answering: Running) -> None:
    origin = f"http://127.0.0.1:{answering.port}/"
    with visiting(browser, origin, viewport={"width": 360, "height": 800}, bypass_csp=True) as visit:
        page = visit.open("#view=answers")
        for name in answering.service.tasks:
            page.locator(".view > .chips").get_by_role("button", name=name, exact=True).click()
            until(page, f"location.hash.includes('task={name.split()[0]}') || '{name}' === 'ner'")
            until(page, "document.querySelector('.card').children.length && !document.querySelector('[aria-busy]')")
            assert page.locator(".problem:visible").count() == 0, name
            assert visit.too_wide() <= 0, name
            assert visit.axe() == [], name
