"""Text to vectors: the embedder, the module for task models, batching, caches, output files. No training here."""
