"""The kernels that a wheel brings: chosen by the processor, trusted as the program is, proved once, the same bits."""

import ctypes
import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.ops.cpu.asking import ask_anew

from elmo.ops.cpu import library, prebuilding, prebuilt
from elmo.ops.cpu.prebuilt import VariantLibrary, prebuilt_library, processor_features

ROOT = Path(__file__).parents[3]
THIS = [v for v in prebuilding.variants() if processor_features().issuperset(v.needs)]
pytestmark = [
    pytest.mark.skipif(shutil.which("c++") is None or shutil.which("objcopy") is None, reason="no C++ compiler"),
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or not THIS, reason="no kernels are prebuilt for this machine"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of one variant, which this processor runs."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prebuilding, "variants", lambda: THIS[-1:])
        prebuilding.build("c++", folder)
    return folder


@pytest.fixture
def installed(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library where the program looks for it, an empty cache, and no compiler."""
    folder = tmp_path / "installed"
    folder.mkdir()
    for name in (prebuilding.LIBRARY, prebuilding.RECORD):
        shutil.copy(built / name, folder)
    monkeypatch.setattr(prebuilt, "FOLDER", folder)
    monkeypatch.setenv("ELMO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", str(tmp_path / "no compiler"))
    ask_anew(monkeypatch)
    return folder


@pytest.mark.usefixtures("installed")
def test_it_is_used_without_a_compiler_and_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = library.cpu_library()
    assert isinstance(found, VariantLibrary)
    assert found.elmo_self_test() == 0
    name = library.cpu_library_name()
    assert name is not None
    assert name.startswith(THIS[-1].name)
    library._find_library.cache_clear()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("proved again"))
    assert library.cpu_library_name() == name
    with pytest.raises(AttributeError):
        _ = found.other


@pytest.mark.usefixtures("installed")
def test_what_was_proved_on_another_processor_is_proved_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prebuilt_library() is not None
    monkeypatch.setattr(prebuilt, "processor_features", lambda: processor_features() | {"another"})
    monkeypatch.setattr(prebuilt, "PROOF", "raise SystemExit(1)")
    assert prebuilt_library() is None


@pytest.mark.usefixtures("installed")
def test_a_processor_that_lacks_something_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = set(THIS[-1].needs[:1])
    if not missing:
        pytest.skip("this variant needs nothing")
    monkeypatch.setattr(prebuilt, "processor_features", lambda: processor_features() - missing)
    assert prebuilt_library() is None


def test_a_variant_that_kills_its_process_is_not_used(
    installed: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(prebuilt, "PROOF", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert prebuilt_library() is None
    assert f"{THIS[-1].name} does not run on this processor (status -4)" in caplog.text
    assert not list((installed.parent / "cache").rglob("proved-*"))


@pytest.mark.parametrize("change", ["content", "mode", "record", "variants", "nested", "gone", "source"])
def test_one_that_is_not_as_it_was_built_is_not_loaded(
    installed: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, change: str
) -> None:
    file, record = installed / prebuilding.LIBRARY, installed / prebuilding.RECORD
    if change == "content":
        file.write_bytes(file.read_bytes() + b"\0")
    elif change == "mode":
        file.chmod(0o777)
    elif change == "record":
        record.write_text("[]", encoding="ascii")
    elif change == "variants":
        record.write_text(json.dumps({**json.loads(record.read_text("ascii")), "variants": ["avx2"]}), encoding="ascii")
    elif change == "nested":
        record.write_text("[" * 100_000, encoding="ascii")
    elif change == "gone":
        file.unlink()
    else:
        monkeypatch.setattr(prebuilt, "source_digest", lambda: "another")
    monkeypatch.setattr(ctypes, "CDLL", lambda path: pytest.fail(f"{path} was loaded"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a child loads it"))
    with caplog.at_level(logging.WARNING):
        assert prebuilt_library() is None
    assert len(caplog.records) == (0 if change == "source" else 1)
    assert change == "source" or "install elmo anew" in caplog.text


@pytest.mark.parametrize("obstacle", ["others write there", "a file"])
def test_without_a_cache_it_is_proved_each_time(installed: Path, obstacle: str) -> None:
    cache = installed.parent / "cache"
    if obstacle == "a file":
        cache.touch()
    else:
        (cache / "kernels").mkdir(parents=True)
        (cache / "kernels").chmod(0o777)
    assert prebuilt_library() is not None
    assert not list(installed.parent.rglob("proved-*"))


@pytest.mark.usefixtures("installed")
def test_a_switch_passes_it_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELMO_CPU_KERNELS", "build")
    monkeypatch.delenv("CXX")
    found = library.cpu_library()
    assert isinstance(found, ctypes.CDLL)


def test_functions_of_the_standard_library_are_each_variants_own(built: Path) -> None:
    """One compiled for AVX-512 must not serve a processor that has none."""
    done = subprocess.run(["nm", "-D", "--defined-only", built / prebuilding.LIBRARY], capture_output=True, check=True)
    names = {line.split()[-1] for line in done.stdout.decode("ascii").splitlines()}
    assert names == {f"{name}_{THIS[-1].name}" for name in prebuilding.exported_functions()}
    needed = subprocess.run(["readelf", "-d", built / prebuilding.LIBRARY], capture_output=True, check=True).stdout
    assert b"libstdc++" not in needed


def test_no_machine_is_promised_what_nobody_tried() -> None:
    assert prebuilding.variants("riscv64") == []
    for machine in ("x86_64", "aarch64"):
        names = [variant.name for variant in prebuilding.variants(machine)]
        assert len(names) == len(set(names)) > 0


def test_the_tag_names_the_youngest_glibc_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "library").write_bytes(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0")
    (tmp_path / "old").write_bytes(b"\0GLIBC_2.2.5\0")
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("another C library")
    assert prebuilding.platform_tag(tmp_path / "library") == f"manylinux_2_34_{platform.machine()}"
    assert prebuilding.platform_tag(tmp_path / "old") == f"manylinux_2_17_{platform.machine()}"


EMBED = """
import sys
import numpy as np
import elmo
from elmo.ops.cpu.library import cpu_library_name
embedder = elmo.load()
embedder.model  # the packaged one
vectors = embedder.encode([["The", "bank", "is", "open", "."], ["Yes"]], layers="all")
np.savez(sys.argv[1], *vectors)
print(cpu_library_name())
print(elmo.__file__)
"""


@pytest.mark.slow  # builds a wheel with the packaged model in it
@pytest.mark.timeout(900)
def test_an_embedding_from_the_wheel_needs_no_compiler(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the extra `dev` brings it")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=ROOT, env={**os.environ, "ELMO_WHEEL_KERNELS": "required"}, check=True)
    (wheel,) = (tmp_path / "dist").iterdir()
    assert "-py3-none-" in wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    record = json.loads((tmp_path / "site" / "elmo" / "ops" / "cpu" / prebuilding.RECORD).read_text("ascii"))
    assert list(record["variants"]) == [variant.name for variant in prebuilding.variants()]
    bare = {"PATH": str(tmp_path / "nothing"), "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path / "site")}
    bare["ELMO_CACHE"] = str(tmp_path / "cache")
    names = set()
    for variant in THIS:  # each that this processor can run
        program = (
            "from elmo.ops.cpu import prebuilt; features = prebuilt.processor_features(); "
            f"prebuilt.processor_features = lambda: features & set({variant.needs!r})\n"
        )
        code = [sys.executable, "-c", program + EMBED, str(tmp_path / f"{variant.name}.npz")]
        done = subprocess.run(code, cwd=tmp_path, env=bare, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        name, place = done.stdout.split()
        assert Path(place).is_relative_to(tmp_path / "site")
        assert name.startswith(variant.name)
        names.add(name)
    assert len(names) == len(THIS)
    assert not list((tmp_path / "cache").rglob("*.so"))  # nothing was compiled
    # Built here, for this very processor: the same bits from every variant.
    built_here = {**os.environ, "ELMO_CPU_KERNELS": "build", "PYTHONPATH": str(tmp_path / "site")}
    code = [sys.executable, "-c", EMBED, str(tmp_path / "here.npz")]
    subprocess.run(code, cwd=tmp_path, env=built_here, capture_output=True, check=True)
    with np.load(tmp_path / "here.npz") as wanted:
        for variant in THIS:
            with np.load(tmp_path / f"{variant.name}.npz") as found:
                for name in wanted:
                    np.testing.assert_array_equal(found[name], wanted[name], err_msg=variant.name)
