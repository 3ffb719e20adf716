"""Pretraining: corpus store to biLM; perplexity, scores, fine-tuning. `loop.pretrain` is the whole of a run."""
