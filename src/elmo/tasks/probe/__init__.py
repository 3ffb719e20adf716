"""Linear probes: what a layer knows of a label, by a linear classifier on its vectors alone."""
