"""Word senses: the nearest average vector among the senses that a training corpus shows."""
