"""Entailment: whether a text (the premise) says what another one (the hypothesis) does."""
