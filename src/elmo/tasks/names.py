"""The names of the tasks that are trained, by themselves: the command line offers them before torch is there."""

from typing import Literal

TaskName = Literal["ner", "chunk", "pos", "classification", "entailment", "questions", "roles", "coreference"]
