"""What a training step reads: the corpus as streams, on the device or fetched ahead. Batches by step number."""
