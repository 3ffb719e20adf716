"""How much of `encode`'s speed is kept inside other libraries."""
