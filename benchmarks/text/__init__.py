"""How fast and how right text is split."""
