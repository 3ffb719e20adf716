"""A real browser on the page: whatever goes wrong in it is kept, and a request to anywhere else is wrong."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("ELMO_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE = 240_000  # milliseconds, for a loaded machine
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def axe_source() -> str:
    """axe-core, which is not committed; `make test-browser` puts it beside the virtual environment."""
    root = Path(__file__).parents[3]
    places = [os.environ.get("ELMO_AXE", ""), root / ".venv-browser/node_modules/axe-core/axe.min.js"]
    for place in places:
        if place and Path(place).is_file():
            return Path(place).read_text("utf-8")
    pytest.skip("axe-core is not here; `make test-browser` gets it, or name axe.min.js in ELMO_AXE")


class Visit:
    """A page in a fresh profile, and what went wrong in it."""

    def __init__(self, page: Any, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.problems: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("console", self._hear)
        page.on("request", self._look)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _look(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:" + self.origin.rstrip("/"), "blob:null")):
            self.problems.append(f"request to {request.url}")

    def open(self, fragment: str = "") -> Any:
        """Open the page, wait until it shows what its address says."""
        self.page.goto(self.origin + fragment)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def axe(self) -> list[str]:
        """What axe-core finds wrong, in words."""
        self.page.evaluate(axe_source())
        found = self.page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
        assert found["passes"], "axe checked nothing"
        return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found["violations"]]

    def too_wide(self) -> int:
        """Pixels by which the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))


@contextlib.contextmanager
def visiting(browser: Any, origin: str, **options: Any) -> Iterator[Visit]:
    """A visit of a new guest; it must end without a problem."""
    context = browser.new_context(**{"bypass_csp": False, "reduced_motion": "reduce", **options})
    try:
        visit = Visit(context.new_page(), origin)
        yield visit
        assert visit.problems == []
    finally:
        context.close()


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true in the page; Playwright's own way is forbidden by the page's policy."""
    found = page.evaluate(
        f"""async patience => {{
            const end = performance.now() + patience;
            while (!({expression}) && performance.now() < end) await new Promise(requestAnimationFrame);
            return Boolean({expression});
        }}""",
        PATIENCE,
    )
    assert found, f"not within {PATIENCE} ms: {expression}"
