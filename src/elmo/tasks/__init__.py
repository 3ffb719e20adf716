"""Task models with ELMo added: taggers, classifiers, word senses, probes; their readers, scorers and one trainer."""
