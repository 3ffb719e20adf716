"""Whether vectors tell the senses of a word apart."""
