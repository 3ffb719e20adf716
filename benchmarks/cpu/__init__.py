"""How fast and how exact embedding is on a CPU."""
