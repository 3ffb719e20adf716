"""docs/cli.md is what --help says, for every command there is."""

import subprocess
import sys
from pathlib import Path

from elmo.apps.cli.main import app

DOCS = Path(__file__).parent.parent.parent.parent / "docs"


def test_the_page_is_fresh() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import make_cli; sys.stdout.write(make_cli.page())"
    done = subprocess.run([sys.executable, "-c", code, str(DOCS)], check=True, capture_output=True, text=True)
    assert done.stdout == (DOCS / "cli.md").read_text("utf-8"), "run python docs/make_cli.py"


def test_every_command_is_on_the_page() -> None:
    page = (DOCS / "cli.md").read_text("utf-8")
    names = [command.name for command in app.registered_commands]
    names += [
        f"{group.name} {command.name}"
        for group in app.registered_groups
        for command in group.typer_instance.registered_commands
    ]
    assert len(names) >= 12
    for name in names:
        assert f"## elmo {name}\n" in page
