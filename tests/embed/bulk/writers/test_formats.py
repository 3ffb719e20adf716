"""The table of output formats: one place from which the command line and the files' names follow."""

from typing import get_args

from elmo.embed.bulk.writers.formats import FORMATS, SUFFIXES, Format, format_of


def test_every_name_that_is_offered_has_a_writer() -> None:
    assert set(get_args(Format)) == set(FORMATS)


def test_a_suffix_means_one_format() -> None:
    assert len(SUFFIXES) == sum(len(known.suffixes) for known in FORMATS.values())
    assert format_of("vectors.h5") == "hdf5-allennlp"
    assert format_of("vectors.h5", "npz") == "npz"
    assert format_of("-") == "jsonl"
