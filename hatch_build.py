"""Puts prebuilt CPU kernels into the wheel, so that nothing is compiled where it is installed.

ELMO_WHEEL_KERNELS: `auto` (where a compiler is there; otherwise they are built on the user's machine), `required` (no
wheel without them) or `none`.
"""

import os
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "elmo/ops/cpu"
VARIABLE = "ELMO_WHEEL_KERNELS"
CHOICES = ("auto", "required", "none")


class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds before a wheel is packed; a development install builds on first use, as its source may change."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get(VARIABLE) or "auto"
        if wanted not in CHOICES:
            raise ValueError(f"{VARIABLE} is {wanted!r}; it must be one of {', '.join(CHOICES)}")
        if version == "editable" or wanted == "none":
            return
        making = runpy.run_path(str(Path(self.root, "src", PLACE, "prebuilding.py")))
        self._folder = tempfile.mkdtemp(prefix="elmo-wheel-")
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or "clang++"
        try:
            making["build"](compiler, Path(self._folder))
        except (OSError, subprocess.SubprocessError) as error:
            if wanted == "required":
                raise
            self.app.display_warning(f"no prebuilt kernels in this wheel: {getattr(error, 'stderr', None) or error}")
            return
        for name in (making["LIBRARY"], making["RECORD"]):
            build_data["force_include"][str(Path(self._folder, name))] = f"{PLACE}/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{making['platform_tag'](Path(self._folder, making['LIBRARY']))}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if hasattr(self, "_folder"):
            shutil.rmtree(self._folder, ignore_errors=True)
