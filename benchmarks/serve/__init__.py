"""The server under load and under malformed requests."""
