"""Task models with ELMo: train one with `train_task`, answer with it, add another kind of task."""

from typing import TYPE_CHECKING

from elmo.lazy import loaded_on_use

if TYPE_CHECKING:
    from elmo.tasks.embedding.layercache import CacheConfig, LayerStore
    from elmo.tasks.embedding.wordvectors import WordVectors, read_word_vectors
    from elmo.tasks.examples import Example, Text
    from elmo.tasks.recipes import RECIPES, Recipe, find_recipe
    from elmo.tasks.training.directory import load_trained_task
    from elmo.tasks.training.loop import TrainResult
    from elmo.tasks.training.trained import TrainedTask
    from elmo.tasks.training.trainer import train_task

__all__ = [
    "RECIPES",
    "CacheConfig",
    "Example",
    "LayerStore",
    "Recipe",
    "Text",
    "TrainResult",
    "TrainedTask",
    "WordVectors",
    "find_recipe",
    "load_trained_task",
    "read_word_vectors",
    "train_task",
]

__getattr__, __dir__ = loaded_on_use(
    __name__,
    {
        "RECIPES": "elmo.tasks.recipes",
        "CacheConfig": "elmo.tasks.embedding.layercache",
        "Example": "elmo.tasks.examples",
        "LayerStore": "elmo.tasks.embedding.layercache",
        "Recipe": "elmo.tasks.recipes",
        "Text": "elmo.tasks.examples",
        "TrainResult": "elmo.tasks.training.loop",
        "TrainedTask": "elmo.tasks.training.trained",
        "WordVectors": "elmo.tasks.embedding.wordvectors",
        "find_recipe": "elmo.tasks.recipes",
        "load_trained_task": "elmo.tasks.training.directory",
        "read_word_vectors": "elmo.tasks.embedding.wordvectors",
        "train_task": "elmo.tasks.training.trainer",
    },
)
