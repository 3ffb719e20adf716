"""From text to files: each stage of bulk embedding alone and all of them together, beside the pure model."""
