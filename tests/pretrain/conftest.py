"""Corpus stores and sentences for these tests."""

from tests.stores import _one_thread, make_sentences, make_store, toy_store

__all__ = ["_one_thread", "make_sentences", "make_store", "toy_store"]
