"""Pretraining: from a corpus store to a biLM; perplexity, scores, fine-tuning. `loop.pretrain` is the whole of a run."""
