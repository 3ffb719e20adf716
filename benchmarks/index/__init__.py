"""The word-in-context index."""
