"""Question answering: the piece of a text that answers a question about it."""
