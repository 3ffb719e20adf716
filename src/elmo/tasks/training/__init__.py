"""The trainer of all tasks: examples as batches, early stopping, checkpoints, the trained model on disk."""
