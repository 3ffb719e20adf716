"""Where a sentence starts, and what it matters."""
