"""One training step: losses, gradients, optimizers, and the CUDA graph of it all."""
