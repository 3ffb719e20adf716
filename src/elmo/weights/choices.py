"""What writing a model can be told by a name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Storage = Literal["float32", "float16", "bfloat16", "int8"]
SoftmaxStorage = Literal["int8", "int4"]  # of a softmax in a file of its own
Writable = Literal["native", "bilm-tf"]  # the names of the formats that can be written; `formats` reads more
Target = Literal[Writable, "onnx", "transformers"]  # what a model can be converted to
