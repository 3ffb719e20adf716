"""Files of vectors read back: any that `elmo embed` writes, line by line, without reading the rest. No torch."""
