"""How good a model gets, in which time, by which recipe."""
