"""Reading files of strangers: every property is checked before a number is read. Knows no models and no torch."""
