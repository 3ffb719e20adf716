"""What every training run shares: stopping, metrics and curves, random numbers, processes."""
