"""The vectors of a task's tokens: ELMo, static word vectors, characters; and the layers of a frozen biLM, kept."""
