"""The paper's findings, one by one: held here or not, with the figures that say so."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from elmo.reproduce.arms import BASELINE, INPUT
from elmo.reproduce.comparison import Comparison
from elmo.reproduce.paper import NAMES
from elmo.reproduce.report.layers import mean_by_layer, together

Verdict = Literal["held", "held so far", "held in part", "not held", "not measured"]
Sets = Sequence[Comparison]


@dataclass(frozen=True)
class PaperFinding:
    """A sentence of the paper's, what became of it here, and the figures."""

    claim: str
    verdict: Verdict
    figures: list[str]


@dataclass(frozen=True)
class _Check:
    """One figure: whether it agrees, and how it reads."""

    agrees: bool
    told: str


def check_findings(
    sets: Sets, senses: Sequence[Mapping[str, Any]], tags: Sequence[Mapping[str, Any]]
) -> list[PaperFinding]:
    """All of them, in the paper's order."""
    in_paper = [one for one in sets if one.data.paper is not None]
    return [
        _of_all_tasks(_finding("ELMo helps on all six tasks (Table 1)", _each(in_paper, _helps)), in_paper),
        _finding("All layers are at least as good as the top one (Table 2)", _each(in_paper, _all_layers)),
        _finding("A small lambda is at least as good as a large one (Table 2)", _each(in_paper, _small_lambda)),
        _finding(
            "Input and output together are best for SQuAD and SNLI (Table 3)",
            _each([one for one in in_paper if one.data.paper in ("squad", "snli")], _both_best),
        ),
        _finding(
            "The input alone is best for semantic roles (Table 3)",
            _each([one for one in in_paper if one.data.paper == "srl"], _input_best),
        ),
        _finding("Senses are told better by the second layer than by the first (Table 5)", _rising(senses)),
        _finding("Tags are told best by the first layer (Table 6)", _first_best(tags)),
        _finding("Tuning the biLM on the task's text lowers its perplexity (Table 7)", _each(sets, _perplexity)),
        _finding("The gain grows as the training data shrink (Figure 1)", _each(sets, _grows)),
        _finding(
            "ELMo with 1 % of the data is as good as the baseline with 10 % (Figure 1, semantic roles)",
            _each([one for one in in_paper if one.data.paper == "srl"], _tenfold),
        ),
        _finding("ELMo passes the baseline's best score in fewer updates (section 5.4)", _each(sets, _sooner)),
        _finding("At the input the first LSTM layer has most weight (Figure 2)", _each(in_paper, _first_layer)),
    ]


def _finding(claim: str, checks: Sequence[_Check]) -> PaperFinding:
    agreeing = sum(check.agrees for check in checks)
    verdict: Verdict = "held in part"
    if not checks:
        verdict = "not measured"
    elif agreeing == len(checks):
        verdict = "held"
    elif agreeing == 0:
        verdict = "not held"
    return PaperFinding(claim, verdict, [check.told for check in checks])


def _of_all_tasks(found: PaperFinding, sets: Sets) -> PaperFinding:
    """What is said of all six tasks is held when all six are measured."""
    rows = {one.data.paper for one in sets if _helps(one) is not None}
    lacking = [name for row, name in NAMES.items() if row not in rows]
    if found.verdict != "held" or not lacking:
        return found
    return PaperFinding(found.claim, "held so far", [*found.figures, f"not measured: {', '.join(lacking)}"])


def _each(sets: Sets, check: Callable[[Comparison], _Check | None]) -> list[_Check]:
    return [found for one in sets if (found := check(one)) is not None]


def _above(one: Comparison, arm: str, other: str, part: str, *, strictly: bool = False) -> _Check | None:
    """Whether the mean of an arm is above another's, or not below it; told with the error of the difference."""
    gain, noise = one.gain(arm, other, part), one.noise(arm, other, part)
    if gain is None:
        return None
    within = noise is not None and abs(gain) <= noise
    told = f"{one.data.name} {_with_noise(gain, noise)}" + (", which is noise" if within else "")
    return _Check(gain > (noise or 0) if strictly else gain >= 0, told)


def _with_noise(gain: float, noise: float | None) -> str:
    return f"{gain:+.2f}" + (" (one seed)" if noise is None else f" ± {noise:.2f}")


def _helps(one: Comparison) -> _Check | None:
    return _above(one, INPUT, BASELINE, "test", strictly=True)


def _all_layers(one: Comparison) -> _Check | None:
    return _above(one, INPUT, "top", "dev")


def _small_lambda(one: Comparison) -> _Check | None:
    return _above(one, "lambda 0.001", "lambda 1", "dev")


def _both_best(one: Comparison) -> _Check | None:
    return _best(one, "both", (INPUT, "output"))


def _input_best(one: Comparison) -> _Check | None:
    return _best(one, INPUT, ("both", "output"))


def _best(one: Comparison, arm: str, others: Sequence[str]) -> _Check | None:
    found = [check for other in others if (check := _above(one, arm, other, "dev")) is not None]
    if len(found) < len(others):
        return None
    return _Check(all(check.agrees for check in found), "; ".join(check.told for check in found))


def _rising(runs: Sequence[Mapping[str, Any]]) -> list[_Check]:
    checks = []
    for run in runs:
        layers = together(run)["layers"]
        if len(layers) < 3:
            continue  # one layer does not rise
        checks.append(_Check(layers[2] > layers[1], f"F1 {layers[1]:.1f} and {layers[2]:.1f}"))
    return checks


def _first_best(runs: Sequence[Mapping[str, Any]]) -> list[_Check]:
    if not runs:
        return []
    layers = mean_by_layer(runs, "test")
    return [_Check(layers[1] == max(layers), "accuracy " + ", ".join(f"{value:.2f}" for value in layers))]


def _perplexity(one: Comparison) -> _Check | None:
    found = one.tuning()
    if found is None:
        return None
    return _Check(found["after"] < found["before"], f"{one.data.name} {found['before']:.1f} to {found['after']:.1f}")


def _grows(one: Comparison) -> _Check | None:
    shares = [fraction for fraction in sorted(one.data.fractions) if fraction < one.whole]
    least = next((fraction for fraction in shares if one.of(INPUT, fraction)), None)
    whole = one.gain()
    part = None if least is None else one.gain(fraction=least)
    if least is None or whole is None or part is None:
        return None
    errors = one.noise(fraction=least), one.noise()
    noise = None if errors[0] is None or errors[1] is None else math.hypot(errors[0], errors[1])
    told = f"{_with_noise(part, errors[0])} with {100 * least:g} %, {_with_noise(whole, errors[1])} with all"
    within = ", which is noise" if noise is not None and abs(part - whole) <= noise else ""
    return _Check(part - whole > (noise or 0), f"{one.data.name} {told}{within}")


def _tenfold(one: Comparison) -> _Check | None:
    with_elmo, without = one.mean(INPUT, fraction=0.01), one.mean(BASELINE, fraction=0.1)
    if with_elmo is None or without is None:
        return None
    return _Check(
        with_elmo >= without, f"{one.data.name} {with_elmo:.1f} with ELMo and 1 %, {without:.1f} without and 10 %"
    )


def _sooner(one: Comparison) -> _Check | None:
    needed = one.updates(INPUT)
    best = [run["history"][run["best_epoch"] - 1][0] for run in one.of(BASELINE) if run["history"]]
    if not needed or not best:
        return None
    passed = [updates for updates, _ in needed if updates is not None]
    before = sum(best) / len(best)
    after = sum(passed) / len(passed) if len(passed) == len(needed) else float("inf")
    told = f"{after:,.0f}" if passed and len(passed) == len(needed) else f"not in {len(needed) - len(passed)} seeds"
    return _Check(after < before, f"{one.data.name} {told} against {before:,.0f}")


def _first_layer(one: Comparison) -> _Check | None:
    found = one.mixes(INPUT, "input")
    if found is None:
        return None
    shares = found[0]
    told = f"{one.data.name} {' / '.join(f'{share:.2f}' for share in shares)}"
    return _Check(shares.index(max(shares)) == 1, told)
