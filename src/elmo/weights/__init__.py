"""A model on disk to a `BiLM` and back: native and foreign formats, published models by name. Trusts no file."""
