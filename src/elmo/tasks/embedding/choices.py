"""The choices of how ELMo is added, by themselves: the command line names them before torch is there."""

from typing import Literal

Where = Literal["none", "input", "output", "both"]
TaskLayers = Literal["all", "top"]
