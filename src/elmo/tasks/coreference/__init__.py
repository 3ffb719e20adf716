"""Coreference: which words of a document mean the same person or thing."""
