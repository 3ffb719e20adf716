"""What embedding can be told by a name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Layers = Literal["mean", "top", "all"] | int
Pooling = Literal["mean", "max"]
Precision = Literal["float32", "float64", "int8", "bfloat16", "float16"]  # what vectors are computed in
StoredDtype = Literal["float32", "float16"]  # what a file of vectors holds
Engine = Literal["local", "ray"]  # what runs a bulk job
