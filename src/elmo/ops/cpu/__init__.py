"""Compiled kernels for inference on a CPU: their library, what they read, and memory."""
