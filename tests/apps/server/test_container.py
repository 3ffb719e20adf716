"""The Dockerfile: linted, and its steps run as a script, since tests have no container engine."""

import http.client
import json
import shutil
import signal
import site
import subprocess
import sys
from pathlib import Path

import pytest
from tests.apps.server.dockerfile import ROOT, Instruction, Steps, as_command, read_dockerfile, stages
from tests.apps.server.running import PATIENCE

INSTRUCTIONS = read_dockerfile()
LAST = stages(INSTRUCTIONS)[-1]
# Written into the container's Python: names every file that is opened to be written, or made, or taken away.
WATCH = """import os, sys
def _watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        os.write(2, f"WROTE {arguments[0]}\\n".encode())
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.symlink"):
        os.write(2, f"WROTE {event} {arguments[0]}\\n".encode())
sys.addaudithook(_watch)
"""


def values(name: str, instructions: list[Instruction] = LAST) -> list[str]:
    return [instruction.value for instruction in instructions if instruction.name == name]


def test_hadolint_has_nothing_to_say() -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if hadolint is None:
        pytest.skip("hadolint comes with the extra `dev` on Linux with x86-64 alone")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_slim_and_pinned_and_its_user_is_nobody() -> None:
    for base in values("FROM", INSTRUCTIONS):
        assert "-slim" in base
        assert ":latest" not in base
        assert ":" in base
    assert values("USER")[-1].isdecimal()
    assert int(values("USER")[-1]) >= 1000
    assert LAST.index(Instruction("USER", values("USER")[-1])) > max(
        number for number, instruction in enumerate(LAST) if instruction.name in ("RUN", "COPY")
    )
    assert len(values("HEALTHCHECK")) == 1
    assert not [value for value in values("RUN", INSTRUCTIONS) if "sudo" in value or "curl" in value]
    assert "ADD" not in {instruction.name for instruction in INSTRUCTIONS}


def test_no_secret_is_built_in() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert "API_KEY" not in text
    assert "--api-key" not in text


def test_what_is_copied_is_let_through_by_dockerignore() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[0] == "*"
    for value in values("COPY", INSTRUCTIONS):
        if not value.startswith("--from"):
            for source in value.split()[:-1]:
                assert f"!{source}" in ignored
                assert (ROOT / source).exists()


@pytest.mark.timeout(1800)  # an environment is made and the package built
def test_the_steps_lead_to_a_server_that_is_healthy_and_writes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the extra `dev` brings it")
    packages = "\n".join(path for path in sys.path if path.endswith("site-packages")) or site.getsitepackages()[0]
    steps = Steps(tmp_path / "image", packages=packages, python=sys.executable)
    steps.image.mkdir()
    (steps.image / "tmp").mkdir()
    for instruction in INSTRUCTIONS:
        steps.do(instruction)
    installed = next(steps.image.glob("opt/elmo/lib/python3.*/site-packages"))
    assert (installed / "elmo" / "models" / "english" / "config.json").is_file()
    (installed / "watch.py").write_text(WATCH, encoding="utf-8")
    (installed / "zz_watch.pth").write_text("import watch\n", encoding="utf-8")
    command = [*as_command(values("ENTRYPOINT")[-1]), *as_command(values("CMD")[-1])]
    assert command[-4:] == ["--host", "0.0.0.0", "--port", "8400"]
    command = [str(steps.image / "opt" / "elmo" / "bin" / command[0]), *command[1:-4], "--port", "0"]
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        server = steps.start(command, stdout=subprocess.PIPE, stderr=log)
    try:
        assert server.stdout is not None
        told = server.stdout.readline()
        assert told.startswith("listening on "), (tmp_path / "log").read_text("utf-8")
        port = told.strip().rpartition(":")[2]
        probe = as_command(values("HEALTHCHECK")[-1].partition("CMD ")[2])
        probe = [str(steps.image / "opt" / "elmo" / "bin" / probe[0]), probe[1], probe[2].replace("8400", port)]
        assert "8400" in values("HEALTHCHECK")[-1]
        while not _is_healthy(steps, probe):
            assert server.poll() is None
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
        body = json.dumps({"input": "The bank is closed."})
        connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
        assert len(json.loads(connection.getresponse().read())["data"][0]["embedding"]) == 512
        connection.close()
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
        if server.stdout is not None:
            server.stdout.close()
    assert not _is_healthy(steps, probe)
    written = [line for line in (tmp_path / "log").read_text("utf-8").splitlines() if line.startswith("WROTE")]
    # Asked for where it is there already, which a read-only file system allows.
    there = f"WROTE os.mkdir {steps.image}/opt/elmo/cache/kernels"
    assert (steps.image / "opt" / "elmo" / "cache" / "kernels").is_dir()
    assert set(written) <= {"WROTE /dev/null", there}


def _is_healthy(steps: Steps, probe: list[str]) -> bool:
    process = steps.start(probe, stderr=subprocess.DEVNULL)
    return process.wait(PATIENCE) == 0
