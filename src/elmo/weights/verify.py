"""Whether a model is sound: hashes, shapes, finite numbers, and the vectors of the self-test. For `elmo verify`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.finding import Finding
from elmo.disk.guarded.plainfiles import file_sha256, member
from elmo.errors import ElmoError
from elmo.weights.formats import read_model
from elmo.weights.loaded import LoadedModel
from elmo.weights.native import WEIGHTS, read_config
from elmo.weights.published.records import recorded_sha256
from elmo.weights.selftest import TOLERANCE, run_self_test, self_test_difference
from elmo.weights.softmaxfile import read_softmax
from elmo.weights.tensors import is_finite


def verify_model(source: str | Path) -> list[Finding]:
    """Everything that can be checked, in order; the list ends at the first fault that hides the rest."""
    try:
        model = read_model(source, settle=False, finite=False)
    except ElmoError as error:
        return [Finding(False, str(error))]
    findings = [Finding(True, f"{model.source}: a {model.format} model, all tensors present and of the right shape")]
    findings += _vocabulary(model)
    findings += _finite(model)
    if not all(finding.ok for finding in findings):
        return findings
    if model.format == "native":
        findings += _recorded(model, Path(model.source or ""))
        findings += _softmax_apart(model)
    else:
        findings += _first_seen(Path(model.source or ""))
        model.settle()
        layers = np.array(run_self_test(model)["layers"])
        findings.append(Finding(is_finite(layers), "vectors of the self-test sentence are finite (none are recorded)"))
    return findings


def _vocabulary(model: LoadedModel) -> Iterator[Finding]:
    """Embedding may never need it, so that reading the model did not look into it."""
    try:
        vocabulary = model.vocabulary
    except ElmoError as error:
        yield Finding(False, str(error))
        return
    if vocabulary is not None:
        yield Finding(True, f"the vocabulary has {len(vocabulary):,} words")


def _finite(model: LoadedModel) -> Iterator[Finding]:
    parts = [model.tensors]
    if model.softmax_apart is None and (softmax := model.softmax_arrays) is not None:
        parts.append({"softmax.weight": softmax.weight, "softmax.bias": softmax.bias})
    count, bad = 0, []
    for tensors in parts:
        for name in tensors:
            array = tensors[name]
            count += array.size
            bad += [] if is_finite(array) else [name]
    if bad:
        yield Finding(False, f"{len(bad)} tensors have NaN or infinite numbers, the first is {bad[0]}")
    else:
        yield Finding(True, f"{count:,} numbers are finite")


def _recorded(model: LoadedModel, directory: Path) -> Iterator[Finding]:
    """What config.json says of the weights."""
    values = read_config(directory)
    recorded = values.get("weights")
    recorded = recorded if isinstance(recorded, dict) else {}
    hashes: dict[str, tuple[str, Callable[[], str]]] = {
        "sha256": (f"sha256 of {WEIGHTS}", lambda: file_sha256(member(directory, WEIGHTS))),
        "content_sha256": ("sha256 of the numbers", lambda: model.sha256),
    }
    for key, (name, compute) in hashes.items():
        yield _compare(name, recorded.get(key), compute())
    difference = self_test_difference(values.get("self_test"), run_self_test(model))
    yield Finding(
        difference <= TOLERANCE,
        f"vectors of the self-test sentence differ by {difference:.1e} from those recorded (at most {TOLERANCE:.0e})",
    )


def _softmax_apart(model: LoadedModel) -> Iterator[Finding]:
    """The softmax in a file of its own: that it is the one recorded, whole, and of this biLM."""
    apart = model.softmax_apart
    if apart is None:
        return
    name = apart.path.name
    try:
        if apart.sha256 is not None:
            yield _compare(f"sha256 of {name}", apart.sha256, file_sha256(apart.path))
        read = read_softmax(apart.path, size=model.config.lstm.output_dim)
        V = len(apart.stored(model).arrays().bias)
    except ElmoError as error:
        yield Finding(False, str(error))
        return
    yield Finding(True, f"{name} has {V:,} words, those of the vocabulary, and finite numbers")
    belongs = model.sha256 in read.bilms
    yield Finding(belongs, f"{name} was made for {'this' if belongs else 'another'} biLM")


def _first_seen(path: Path) -> Iterator[Finding]:
    """The hash of a downloaded file, against the one it had when it came."""
    wanted = recorded_sha256(path)
    if wanted is not None:
        yield _compare(f"sha256 of {path.name}", wanted, file_sha256(path))


def _compare(name: str, wanted: Any, found: str) -> Finding:
    if wanted == found:
        return Finding(True, f"{name} is {found}")
    return Finding(False, f"{name}: found {found}, but {str(wanted)[:64]} is recorded")
