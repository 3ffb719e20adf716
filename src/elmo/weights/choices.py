"""What writing a model can be told by a name. Without torch, so that the command line can offer the names at once."""

from typing import Literal

Storage = Literal["float32", "float16", "bfloat16", "int8"]
Target = Literal["native", "bilm-tf", "onnx", "transformers"]  # what can be written; `formats` reads more
