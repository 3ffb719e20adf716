"""Puts the beginning of what `make demo` prints, and a picture, into README.md: python demo/readme.py.

The picture is that of `elmo plot bank`. It is linked by its place in the repository.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- demo -->\n", "<!-- /demo -->\n"
PICTURE = "docs/pictures/bank.png"
SHOWN_UNTIL = "\nNearest neighbours"  # the part behind it is long; who wants it runs the demo
CAPTION = "Ten uses of bank, five of a river and five for money, in two dimensions, by layer"


def section(output: str) -> str:
    """What stands between the marks."""
    seconds = re.search(r"^done in ([\d.]+) s$", output, re.MULTILINE)
    assert seconds is not None
    shown, more, _ = output.partition(SHOWN_UNTIL)
    assert more, f"the demo does not print {SHOWN_UNTIL!r} any more"
    picture = f"\n![{CAPTION}]({PICTURE})\n" if (ROOT / PICTURE).exists() else ""
    return (
        f"`make demo` takes {float(seconds[1]):.0f} seconds once the package is installed. It begins so, and goes on "
        "with the nearest neighbours\nof words in context, a made-up word, and a file of vectors:\n\n"
        f"```console\n{shown.rstrip()}\n```\n{picture}"
    )


def main() -> None:
    done = subprocess.run([sys.executable, "demo"], cwd=ROOT, check=True, capture_output=True, text=True)
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text("utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    assert found, f"{readme} has no marks"
    readme.write_text(before + BEGIN + section(done.stdout) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
