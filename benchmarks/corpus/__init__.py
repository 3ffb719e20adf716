"""How fast a corpus store is built."""
