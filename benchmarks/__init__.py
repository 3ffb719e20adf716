"""Measurements: README.md here lists the scripts."""
