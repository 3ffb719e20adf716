"""What a search can be told by a name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Words = Literal["all", "same", "other"]  # which words may be neighbours
VectorStore = Literal["float16", "int8"]  # what an index holds
