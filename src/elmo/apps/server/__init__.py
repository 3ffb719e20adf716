"""The HTTP server: `make_app` over an embedder, `run` with uvicorn. What `elmo serve` and `elmo explore` start."""
