"""Long files through `elmo embed`."""
