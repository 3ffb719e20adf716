"""Configurations from mappings: names and values of older files are read as those of today."""

from dataclasses import dataclass, field
from typing import Literal

import pytest

from elmo.errors import ConfigError
from elmo.model.fields import formerly, read_fields


@dataclass(frozen=True)
class Options:
    batch_size: int = field(default=1, metadata=formerly("batch"))
    precision: Literal["float32", "bfloat16"] = field(default="float32", metadata=formerly(values={"bf16": "bfloat16"}))


def test_former_names_and_values_are_read() -> None:
    assert read_fields(Options, {"batch": 3, "precision": "bf16"}, where="here") == Options(3, "bfloat16")
    assert read_fields(Options, {"batch_size": 3}, where="here") == Options(3)


def test_both_names_at_once_are_a_mistake() -> None:
    with pytest.raises(ConfigError, match="unknown key 'batch'"):
        read_fields(Options, {"batch": 3, "batch_size": 4}, where="here")
