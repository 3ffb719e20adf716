"""Tagging: names, chunks, parts of speech; anything with one label a token."""
