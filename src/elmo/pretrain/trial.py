"""How long a run will take, by a trial of its first steps and of its evaluation."""

import time

from elmo.pretrain.trainer import Trainer

TRIAL_STEPS = {"cpu": 2, "cuda": 5}  # on a GPU the first three are not yet one graph
TRIAL_SYMBOLS = 2000


def try_out(trainer: Trainer) -> float:
    """The seconds of the whole run, from its first steps. They are trained: the caller goes back to a checkpoint."""
    began = 0.0
    for step in range(TRIAL_STEPS[trainer.device.type]):
        began = time.monotonic()
        trainer.step(step).losses.tolist()  # waits for the device
    seconds = (time.monotonic() - began) * trainer.plan.steps  # by the last one
    return seconds + _seconds_of_evaluations(trainer)


def _seconds_of_evaluations(trainer: Trainer) -> float:
    """Those of the whole run and the last one over all of the held-out text, by a trial with some of it."""
    heldout = len(trainer.store.heldout_symbols)
    if not heldout or not trainer.world.is_first:
        return 0.0
    began = time.monotonic()
    trainer.evaluate(symbol_count=TRIAL_SYMBOLS, start=trainer.state)
    each = min(trainer.config.evaluate_symbols or heldout, heldout)
    symbols = each * -(-trainer.plan.steps // trainer.plan.evaluate_every) + heldout
    return (time.monotonic() - began) * symbols / min(TRIAL_SYMBOLS, heldout)
