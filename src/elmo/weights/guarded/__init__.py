"""Tensors and sizes from files of strangers, checked first. What needs no torch is in `elmo.disk.guarded`."""
