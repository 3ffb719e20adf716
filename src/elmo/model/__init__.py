"""The networks and their frozen configurations: CharCNN, BiLSTM, BiLM, ScalarMix. Knows torch, no files."""
