"""Puts what `make demo` prints, and the picture of `elmo plot bank`, into README.md: python demo/readme.py."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- demo -->\n", "<!-- /demo -->\n"
PICTURE = "docs/pictures/bank.png"
CAPTION = "Ten uses of bank, five of a river and five for money, in two dimensions, by layer"


def section(output: str) -> str:
    """What stands between the marks."""
    seconds = re.search(r"^done in ([\d.]+) s$", output, re.MULTILINE)
    assert seconds is not None
    shown = output[: seconds.start()].rstrip()
    picture = f"\n![{CAPTION}]({PICTURE})\n" if (ROOT / PICTURE).exists() else ""
    return f"What `make demo` prints after {float(seconds[1]):.0f} seconds:\n\n```console\n{shown}\n```\n{picture}"


def main() -> None:
    done = subprocess.run([sys.executable, "demo"], cwd=ROOT, check=True, capture_output=True, text=True)
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text("utf-8").partition(BEGIN)
    _, found, after = rest.partition(END)
    assert found, f"{readme} has no marks"
    readme.write_text(before + BEGIN + section(done.stdout) + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
