"""Write the pictures of docs/explore.md and README.md: `elmo explore` in Chromium, with the packaged sentences.

    python docs/make_explore.py

Needs playwright and Chromium (`make test-browser` gets them).
"""

import io
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402 - comes with matplotlib
from playwright.sync_api import sync_playwright  # noqa: E402
from tests.apps.explore.browsing import CHROMIUM, visiting  # noqa: E402
from tests.apps.server.running import running  # noqa: E402

import elmo  # noqa: E402
from elmo.analysis.collection import packaged_passages  # noqa: E402
from elmo.analysis.textcollection import TextCollection  # noqa: E402
from elmo.apps.explore.data import Explorer  # noqa: E402
from elmo.apps.explore.routes import explore_routes  # noqa: E402
from elmo.apps.server.app import make_app  # noqa: E402

COLOURS = 128  # of a file, which keeps it small

# Name: the page's address, light or dark, width and height of the window.
PICTURES = {
    "explore": ("#word=mouse&use=3", "light", 1280, 860),
    "explore-concordance": ("#word=bark&use=2", "dark", 1280, 620),
    "explore-compare": ("#view=compare", "light", 1180, 800),
    "explore-narrow": ("#word=mouse&use=3", "dark", 390, 760),
}


def main() -> None:
    embedder = elmo.load(device="cpu")
    collection = TextCollection(embedder, packaged_passages(embedder.model.tokenizer))
    explorer = Explorer(collection, model="english", source="packaged sentences")
    app = make_app(embedder, extra_routes=explore_routes(explorer))
    with running(app) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, (address, scheme, width, height) in PICTURES.items():
            size = {"width": width, "height": height}
            with visiting(browser, f"http://127.0.0.1:{server.port}/", viewport=size, color_scheme=scheme) as visit:
                page = visit.open(address)
                page.wait_for_selector(".nearlist li, .heat td")
                if name == "explore-concordance":
                    page.evaluate("document.querySelector('.kwic').closest('section').scrollIntoView()")
                page.evaluate("document.fonts.ready")
                picture = Image.open(io.BytesIO(page.screenshot()))
                path = ROOT / "docs" / "pictures" / f"{name}.png"
                picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
