"""The paper, made again: its tables and figures from the user's own data and model, beside the published ones."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.reproduce.catalogue import listing, wanted_names
    from elmo.reproduce.paper_again import ReproduceOptions, reproduce_paper
    from elmo.reproduce.settings import find_sets, read_settings

__all__ = ["ReproduceOptions", "find_sets", "listing", "read_settings", "reproduce_paper", "wanted_names"]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "ReproduceOptions": "elmo.reproduce.paper_again",
        "find_sets": "elmo.reproduce.settings",
        "listing": "elmo.reproduce.catalogue",
        "read_settings": "elmo.reproduce.settings",
        "reproduce_paper": "elmo.reproduce.paper_again",
        "wanted_names": "elmo.reproduce.catalogue",
    },
)
