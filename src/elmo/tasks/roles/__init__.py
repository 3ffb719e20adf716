"""Semantic roles: who did what to whom, for each predicate of a sentence."""
