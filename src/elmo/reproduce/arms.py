"""The arms of a comparison: how ELMo is added, as the paper's tables name it."""

from dataclasses import dataclass

from elmo.reproduce.settings import Options

BASELINE, INPUT, TUNED = "baseline", "input", "tuned"


@dataclass(frozen=True)
class Arm:
    """One way of adding ELMo, or none. `tunes`: the biLM is first tuned on the sentences of the training data."""

    title: str
    options: Options
    tunes: bool = False


_AT_INPUT = ("embedding.elmo.where=input", "embedding.elmo.layers=all")
ARMS: dict[str, Arm] = {
    BASELINE: Arm("baseline (no ELMo)", ('embedding.elmo.where="none"',)),
    INPUT: Arm("ELMo at the input", _AT_INPUT),
    "both": Arm("ELMo at input and output", ("embedding.elmo.where=both", "embedding.elmo.layers=all")),
    "output": Arm("ELMo at the output", ("embedding.elmo.where=output", "embedding.elmo.layers=all")),
    "top": Arm("top layer at the input", ("embedding.elmo.where=input", "embedding.elmo.layers=top")),
    "lambda 1": Arm("ELMo at the input, lambda 1", (*_AT_INPUT, "embedding.elmo.mix_l2=1.0")),
    "lambda 0.001": Arm("ELMo at the input, lambda 0.001", (*_AT_INPUT, "embedding.elmo.mix_l2=0.001")),
    TUNED: Arm("ELMo at the input, biLM tuned on the task's text", _AT_INPUT, tunes=True),
}
# Which arms a table or figure of the paper needs of each data set.
ARMS_OF: dict[str, tuple[str, ...]] = {
    "table1": (BASELINE, INPUT),
    "table2": (BASELINE, "top", "lambda 1", "lambda 0.001"),
    "table3": (INPUT, "both", "output"),
    "table7": (INPUT, TUNED),
    "figure1": (BASELINE, INPUT),
    "figure2": (INPUT, "both", "output"),
}
