"""How models were made: one folder a model, with the commands, the configuration and what came of it."""
