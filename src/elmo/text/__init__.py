"""Raw text to sentences, tokens, character ids and vocabularies. Knows numpy, not torch."""
