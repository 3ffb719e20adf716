"""The Dockerfile as instructions, and its steps as a script: what an engine would do, in a folder."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
# What only an engine can do: it needs the administrator and another root of the file system.
ONLY_IN_AN_ENGINE = ("apt-get ", "useradd ")


class Instruction(NamedTuple):
    """One instruction, its lines joined."""

    name: str
    value: str


def read_dockerfile() -> list[Instruction]:
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(" ", 1)) for line in joined.splitlines() if line.strip()]


def stages(instructions: list[Instruction]) -> list[list[Instruction]]:
    found: list[list[Instruction]] = []
    for instruction in instructions:
        if instruction.name == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


class Steps:
    """Runs the instructions of all stages: paths from the root of an image lie in `image` instead."""

    def __init__(self, image: Path, *, packages: str, python: str) -> None:
        self.image = image
        self.environment = {"PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(image)}
        self.place = image
        self._packages = packages  # where the dependencies are installed that pip would fetch

    def inside(self, text: str) -> str:
        """A text with the paths of the image."""
        return re.sub(r"(?<![\w./])/(opt|source|tmp)\b", lambda found: f"{self.image}/{found[1]}", text)

    def do(self, instruction: Instruction) -> None:
        """One of them; CMD and those that only describe are for who starts the container."""
        name, value = instruction
        if name == "WORKDIR":
            self.place = Path(self.inside(value))
            self.place.mkdir(parents=True, exist_ok=True)
        elif name in ("ENV", "ARG"):
            for pair in shlex.split(value):
                key, _, given = pair.partition("=")
                self.environment[key] = self.inside(given).replace("$PATH", self.environment["PATH"])
        elif name == "COPY" and not value.startswith("--from"):
            *sources, target = value.split()
            for source in sources:
                self._copy(ROOT / source, self.place / target)
        elif name == "RUN" and not value.startswith(ONLY_IN_AN_ENGINE):
            self._run(value)

    def start(self, command: list[str], **options: object) -> "subprocess.Popen[str]":
        """What the container runs."""
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            command, env=self.environment, cwd=self.place, text=True, **options
        )

    def _copy(self, source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target / source.name if target.is_dir() else target)

    def _run(self, value: str) -> None:
        for step in self.inside(value).split(" && "):
            # Dependencies are those of the tests: nothing is fetched.
            self._call(step.replace("pip install", "pip install --no-deps --no-build-isolation --no-index"))
            if " -m venv " in step:
                (made,) = self.image.glob("opt/elmo/lib/python3.*/site-packages")
                (made / "dependencies.pth").write_text(self._packages + "\n", encoding="utf-8")

    def _call(self, script: str) -> None:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env=self.environment, cwd=self.place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"


def as_command(value: str) -> list[str]:
    """The list that an instruction in its JSON form has."""
    return [str(part) for part in json.loads(value)]
