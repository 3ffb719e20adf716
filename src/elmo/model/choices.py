"""Where a sentence starts, by name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Start = Literal["settled", "zero"]  # a sentence by itself: from the state that the model settles into, or from zeros
StateMode = Literal["settled", "zero", "carry"]  # carry: from the end of the sentence before
