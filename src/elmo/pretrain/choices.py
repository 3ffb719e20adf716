"""What a run can be told by a name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Size = Literal["tiny", "mini", "small", "medium", "original"]  # `sizes` has the architectures
StartingRecipe = Literal["modern", "paper"]  # of the recipes, those that begin a model
