"""The language model: a biLM with its softmax; perplexity, scores, substitutes. No training."""
